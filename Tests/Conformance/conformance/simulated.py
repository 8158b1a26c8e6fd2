"""Criteria that a peer cannot test within minutes, or that concern the querier. They are tested in virtual time."""

# Section, title, and the test that covers it.
SIMULATED = [
    ("RFC 6762 §5.2", "questions are repeated after one second, then at growing intervals of up to one hour",
     "QuerierTests.questionsAreAskedEverMoreSeldom"),
    ("RFC 6762 §5.2", "a record in use is queried again at 80, 85, 90 and 95 % of its TTL",
     "QuerierTests.aRefreshedRecordLivesOn, .aUniqueAnswerEndsTheAskingUntilItAges"),
    ("RFC 6762 §7.1", "a querier lists a known answer while half of its TTL is left",
     "QuerierTests.knownAnswersStandInTheQueryWhileHalfOfTheirLifeIsLeft"),
    ("RFC 6762 §7.2", "known answers that do not fit continue in further packets",
     "QuerierTests.manyKnownAnswersContinueInFurtherPackets"),
    ("RFC 6762 §6", "a querier that requests no unicast answers ignores them",
     "QuerierTests.whatIsSentToItAloneIsNotBelieved"),
    ("RFC 6762 §8.3", "nothing is sent for a day after the announcements", "RateTests.aDayAfterTheAnnouncementsIsSilent"),
    ("RFC 6762 §10.1", "a goodbye takes effect after one second",
     "QuerierTests.aGoodbyeTakesEffectAfterASecondUnlessItIsContradicted"),
    ("RFC 6762 §10.2", "the cache-flush bit leaves a grace period of one second",
     "QuerierTests.theCacheFlushBitReplacesWhatIsOlderThanASecond"),
    ("RFC 6762 §10.4", "a failed service that does not answer is removed within ten seconds",
     "RegisterBrowseTests.reconfirmingADeadServiceRemovesItWithinTenSeconds"),
    ("RFC 6762 §8, §9", "with many hosts, some with equal names, all names become unique despite loss and partition",
     "DiscoverySimulationTests.everybodySeesExactlyWhatIsThere"),
]
