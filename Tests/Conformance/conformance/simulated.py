"""Criteria that no peer can judge within minutes, or that are about who asks: they are judged in virtual time."""

# Section, what is judged, and the test that judges it.
SIMULATED = [
    ("RFC 6762 §5.2", "questions are repeated after a second, then ever more seldom, up to an hour",
     "QuerierTests.questionsAreAskedEverMoreSeldom"),
    ("RFC 6762 §5.2", "what is wanted is asked for again at 80, 85, 90 and 95 % of its life",
     "QuerierTests.aRefreshedRecordLivesOn, .aUniqueAnswerEndsTheAskingUntilItAges"),
    ("RFC 6762 §7.1", "a querier tells what it knows, while half of its life is left",
     "QuerierTests.knownAnswersStandInTheQueryWhileHalfOfTheirLifeIsLeft"),
    ("RFC 6762 §7.2", "known answers that do not fit go on in further packets",
     "QuerierTests.manyKnownAnswersContinueInFurtherPackets"),
    ("RFC 6762 §6", "a querier that asks for no unicast answers believes none",
     "QuerierTests.whatIsSentToItAloneIsNotBelieved"),
    ("RFC 6762 §8.3", "a day after the announcements is silent", "RateTests.aDayAfterTheAnnouncementsIsSilent"),
    ("RFC 6762 §10.1", "a goodbye takes effect after a second",
     "QuerierTests.aGoodbyeTakesEffectAfterASecondUnlessItIsContradicted"),
    ("RFC 6762 §10.2", "the cache-flush bit leaves a second of grace",
     "QuerierTests.theCacheFlushBitReplacesWhatIsOlderThanASecond"),
    ("RFC 6762 §10.4", "a service that failed and does not answer is gone within ten seconds",
     "RegisterBrowseTests.reconfirmingADeadServiceRemovesItWithinTenSeconds"),
    ("RFC 6762 §8, §9", "many hosts, some of one name, under loss and partition: all names differ, all see all",
     "DiscoverySimulationTests.everybodySeesExactlyWhatIsThere"),
]
