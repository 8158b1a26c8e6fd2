import ProtocolCore

/// Certificates and the TBSCertificates of their X.509 forms. The reference SDK's test certificates come first; the
/// others were issued with Python's cryptography. The reference SDK converted all certificates to TLV.
enum CertificateVectors {
    struct Vector: Sendable {
        let name: String
        let tlv: [UInt8]
        let toBeSigned: [UInt8]

        init(_ name: String, _ tlv: String, _ toBeSigned: String) {
            self.name = name
            self.tlv = Base64.decode(tlv) ?? []
            self.toBeSigned = Base64.decode(toBeSigned) ?? []
        }
    }

    static let all = [root, intermediate, node] + issued

    /// UnitTest_RootA of the reference SDK.
    static let root = Vector(
        "root",
        """
        FTABCGS1PhbRbGIQJAIBNwMnFAoAAADKysrKJxUKAAAAAKu/+hgmBIy6ByomBQxYpk83BicUCgAAAMrKysonFQoAAAAAq7/6GCQHASQIATAJQQR\
        b3ZZYA19sJmnpJ/DBq6B50yNEg8GCOXhLGg0Ff2LOcoyuO5/vSRjw6Og7bphxgXm3j2Y6SQ98Mg5di3x2VWouNwo1ASkBGDAEFAX0gTsH/LJuVs\
        hWPDsRlx/20a0fMAUUBfSBOwf8sm5WyFY8OxGXH/bRrR8kAmAYMAtA5Bj091RbnaHj3Z+0cBpH2spBgFb8auFxAqH8xtKCAldt/Uun6xwdOIr7b\
        k3tMx/zkff7K7ZZhWtLQhs1mxXowBg=
        """,
        """
        MIIBh6ADAgECAghktT4W0WxiEDAKBggqhkjOPQQDAjBEMSAwHgYKKwYBBAGConwBBAwQQ0FDQUNBQ0EwMDAwMDAwQTEgMB4GCisGAQQBgqJ8AQU\
        MEEZBQkZBQjAwMDAwMDAwMEEwHhcNMjIwNTA2MTA1MzAwWhcNNDIwNTA2MTA1MzAwWjBEMSAwHgYKKwYBBAGConwBBAwQQ0FDQUNBQ0EwMDAwMD\
        AwQTEgMB4GCisGAQQBgqJ8AQUMEEZBQkZBQjAwMDAwMDAwMEEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARb3ZZYA19sJmnpJ/DBq6B50yNEg\
        8GCOXhLGg0Ff2LOcoyuO5/vSRjw6Og7bphxgXm3j2Y6SQ98Mg5di3x2VWouo2MwYTAPBgNVHRMBAf8EBTADAQH/MB0GA1UdDgQWBBQF9IE7B/yy\
        blbIVjw7EZcf9tGtHzAfBgNVHSMEGDAWgBQF9IE7B/yyblbIVjw7EZcf9tGtHzAOBgNVHQ8BAf8EBAMCAQY=
        """)

    /// UnitTest_IA_A1 of the reference SDK, issued by the root.
    static let intermediate = Vector(
        "intermediate",
        """
        FTABCC6fiFm1DComJAIBNwMnFAoAAADKysrKJxUKAAAAAKu/+hgmBGixByomBehOpk83BicToQAAAAoKCgoYJAcBJAgBMAlBBAuTE2/KG8c4ZF7\
        AgJ6qB6eJmWtV/GWqsQyf+advBxV4zy+99NwGgrsX28keNqcupMdE/u/1NMNEdtq026K6A+83CjUBKQEYMAQU1GQYq0zjfmnL4ROh6ahKY3OUch\
        AwBRQF9IE7B/yyblbIVjw7EZcf9tGtHyQCYBgwC0BuEMVXiByWtqgS8zThWSZutWAuUDtJWecd8zhCnCXtMkXaWjIdckcZqaDtkQrRCK39tOYd0\
        EQG4r7Rq2kwQXECGA==
        """,
        """
        MIIBZaADAgECAggun4hZtQwqJjAKBggqhkjOPQQDAjBEMSAwHgYKKwYBBAGConwBBAwQQ0FDQUNBQ0EwMDAwMDAwQTEgMB4GCisGAQQBgqJ8AQU\
        MEEZBQkZBQjAwMDAwMDAwMEEwHhcNMjIwNTA2MTAxNDAwWhcNNDIwNTA2MTAxNDAwWjAiMSAwHgYKKwYBBAGConwBAwwQMEEwQTBBMEEwMDAwMD\
        BBMTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABAuTE2/KG8c4ZF7AgJ6qB6eJmWtV/GWqsQyf+advBxV4zy+99NwGgrsX28keNqcupMdE/u/1N\
        MNEdtq026K6A++jYzBhMA8GA1UdEwEB/wQFMAMBAf8wHQYDVR0OBBYEFNRkGKtM435py+EToemoSmNzlHIQMB8GA1UdIwQYMBaAFAX0gTsH/LJu\
        VshWPDsRlx/20a0fMA4GA1UdDwEB/wQEAwIBBg==
        """)

    /// UnitTest_NodeA1 of the reference SDK, issued by the intermediate authority.
    static let node = Vector(
        "node",
        """
        FTABCAm6pbaLhHHYJAIBNwMnE6EAAAAKCgoKGCYEWLIHKiYF2E+mTzcGJhFEMyIRJxUKAAAAAKu/+hgkBwEkCAEwCUEEOJuexJ6ESMCPNBScPql\
        H0Uniu/WTk0dfqRZxOseB0nP4tSmyj766Hjon0UJn1AxepyVLYld9ADAwJ9ioT6ERoDcKNQEoARgwBBRpjfvtSqxN5ziVxk++Xm/uzpv5WTAFFN\
        RkGKtM435py+EToemoSmNzlHIQJAIBNgMEAQQCGBgwC0C6nsMBehIai3L9msdPAGiYoShdVvyK2U9WVW9rK5QfHBrdZkQt5caOrlLApFO9UKRft\
        WqWemvCdDxUgeIcSgQUGA==
        """,
        """
        MIIBhqADAgECAggJuqW2i4Rx2DAKBggqhkjOPQQDAjAiMSAwHgYKKwYBBAGConwBAwwQMEEwQTBBMEEwMDAwMDBBMTAeFw0yMjA1MDYxMDE4MDB\
        aFw00MjA1MDYxMDE4MDBaMEQxIDAeBgorBgEEAYKifAEBDBAwMDAwMDAwMDExMjIzMzQ0MSAwHgYKKwYBBAGConwBBQwQRkFCRkFCMDAwMDAwMD\
        AwQTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDibnsSehEjAjzQUnD6pR9FJ4rv1k5NHX6kWcTrHgdJz+LUpso++uh46J9FCZ9QMXqclS2JXf\
        QAwMCfYqE+hEaCjgYMwgYAwDAYDVR0TAQH/BAIwADAdBgNVHQ4EFgQUaY377UqsTec4lcZPvl5v7s6b+VkwHwYDVR0jBBgwFoAU1GQYq0zjfmnL\
        4ROh6ahKY3OUchAwDgYDVR0PAQH/BAQDAgeAMCAGA1UdJQEB/wQWMBQGCCsGAQUFBwMBBggrBgEFBQcDAg==
        """)

    private static let issued = [
        // A node with three authenticated tags, whose certificate does not expire.
        Vector(
            "tags",
            """
            FTABFEAIkRmiKrM7xEzVXeZu93+ACJEZJAIBNwMkFP8YJgTvFxsnJAUANwYnEQEAAQDe3t7eJxVi0xXRCMkGKSYWBADNqyYWAQAODyYWAgA\
            BABgkBwEkCAEwCUEEn62Erq4Iu+9/AQAU2CzvagneKwz4cbXODE8dE6WaWTQHy0V2nxBw4sJHD+Wxv+YxM8CwzcZOpL83kajsKgf9TzcKNQ\
            EoARgkAgE2AwQCBAEYMAQUAAECAwQFBgcICQoLDA0ODxAREhMwBRQUFRYXGBkaGxwdHh8gISIjJCUmJxgwC0By9fSyrltLEx64gmPNPg01F\
            TYNOd3CMs5/1mCSCDOiBiAwdc6frzvcUmjcBdrAsGhPouwtjnnJIXuDIwGaSjZNGA==
            """,
            """
            MIIB46ADAgECAhRACJEZoiqzO8RM1V3mbvd/gAiRGTAKBggqhkjOPQQDAjAiMSAwHgYKKwYBBAGConwBBAwQMDAwMDAwMDAwMDAwMDBGRjA\
            gFw0yMDEwMTUxNDIzNDNaGA85OTk5MTIzMTIzNTk1OVowgZIxIDAeBgorBgEEAYKifAEBDBBERURFREVERTAwMDEwMDAxMSAwHgYKKwYBBA\
            GConwBBQwQMjkwNkM5MDhEMTE1RDM2MjEYMBYGCisGAQQBgqJ8AQYMCEFCQ0QwMDA0MRgwFgYKKwYBBAGConwBBgwIMEYwRTAwMDExGDAWB\
            gorBgEEAYKifAEGDAgwMDAxMDAwMjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABJ+thK6uCLvvfwEAFNgs72oJ3isM+HG1zgxPHROlmlk0\
            B8tFdp8QcOLCRw/lsb/mMTPAsM3GTqS/N5Go7CoH/U+jgYMwgYAwDAYDVR0TAQH/BAIwADAOBgNVHQ8BAf8EBAMCB4AwIAYDVR0lAQH/BBY\
            wFAYIKwYBBQUHAwIGCCsGAQUFBwMBMB0GA1UdDgQWBBQAAQIDBAUGBwgJCgsMDQ4PEBESEzAfBgNVHSMEGDAWgBQUFRYXGBkaGxwdHh8gIS\
            IjJCUmJw==
            """),
        // A validity that begins in the last second with a UTCTime and ends with a GeneralizedTime.
        Vector(
            "late",
            """
            FTABAQEkAgE3AyQU/xgmBH8yDV4mBX4TGbw3BicRAQABAN7e3t4nFWLTFdEIyQYpGCQHASQIATAJQQSfrYSurgi7738BABTYLO9qCd4rDPh\
            xtc4MTx0TpZpZNAfLRXafEHDiwkcP5bG/5jEzwLDNxk6kvzeRqOwqB/1PNwo1ASgBGCQCATYDBAIEARgwBBQAAQIDBAUGBwgJCgsMDQ4PEB\
            ESEzAFFBQVFhcYGRobHB0eHyAhIiMkJSYnGDALQLK+oHoaTWDzRhvAL7lohe8Ej3sfkZjChXpUJNZtFzXF69v+4KbU64pFuOpfzGA5uhbC3\
            XlyOg32ozwfFmUKYOcY
            """,
            """
            MIIBgaADAgECAgEBMAoGCCqGSM49BAMCMCIxIDAeBgorBgEEAYKifAEEDBAwMDAwMDAwMDAwMDAwMEZGMCAXDTQ5MTIzMTIzNTk1OVoYDzI\
            wOTkxMjMxMjM1OTU4WjBEMSAwHgYKKwYBBAGConwBAQwQREVERURFREUwMDAxMDAwMTEgMB4GCisGAQQBgqJ8AQUMEDI5MDZDOTA4RDExNU\
            QzNjIwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASfrYSurgi7738BABTYLO9qCd4rDPhxtc4MTx0TpZpZNAfLRXafEHDiwkcP5bG/5jEzw\
            LDNxk6kvzeRqOwqB/1Po4GDMIGAMAwGA1UdEwEB/wQCMAAwDgYDVR0PAQH/BAQDAgeAMCAGA1UdJQEB/wQWMBQGCCsGAQUFBwMCBggrBgEF\
            BQcDATAdBgNVHQ4EFgQUAAECAwQFBgcICQoLDA0ODxAREhMwHwYDVR0jBBgwFoAUFBUWFxgZGhscHR4fICEiIyQlJic=
            """),
        // A validity that begins on February 29 and ends after February 28.
        Vector(
            "leap",
            """
            FTABAgCAJAIBNwMkFP8YJgSByE0AJgUA3Ga8NwYnEQEAAQDe3t7eJxVi0xXRCMkGKRgkBwEkCAEwCUEEn62Erq4Iu+9/AQAU2CzvagneKwz\
            4cbXODE8dE6WaWTQHy0V2nxBw4sJHD+Wxv+YxM8CwzcZOpL83kajsKgf9TzcKNQEoARgkAgE2AwQCBAEYMAQUAAECAwQFBgcICQoLDA0ODx\
            AREhMwBRQUFRYXGBkaGxwdHh8gISIjJCUmJxgwC0Dl77E+qTalbzb3kX0k6hG1yCaV6nbUTe68j1i5f5bC4AdNuIm0No/MAhbyNNNJavsEh\
            WnKcYMvvUKL4hrJWE7+GA==
            """,
            """
            MIIBgqADAgECAgIAgDAKBggqhkjOPQQDAjAiMSAwHgYKKwYBBAGConwBBAwQMDAwMDAwMDAwMDAwMDBGRjAgFw0wMDAyMjkwMDAwMDFaGA8\
            yMTAwMDMwMTAwMDAwMFowRDEgMB4GCisGAQQBgqJ8AQEMEERFREVERURFMDAwMTAwMDExIDAeBgorBgEEAYKifAEFDBAyOTA2QzkwOEQxMT\
            VEMzYyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEn62Erq4Iu+9/AQAU2CzvagneKwz4cbXODE8dE6WaWTQHy0V2nxBw4sJHD+Wxv+YxM\
            8CwzcZOpL83kajsKgf9T6OBgzCBgDAMBgNVHRMBAf8EAjAAMA4GA1UdDwEB/wQEAwIHgDAgBgNVHSUBAf8EFjAUBggrBgEFBQcDAgYIKwYB\
            BQUHAwEwHQYDVR0OBBYEFAABAgMEBQYHCAkKCwwNDg8QERITMB8GA1UdIwQYMBaAFBQVFhcYGRobHB0eHyAhIiMkJSYn
            """),
        // Standard attributes 1 to 4 except the country; half have the type PrintableString.
        Vector(
            "firstNames",
            """
            FTABFEAIkRmiKrM7xEzVXeZu93+ACJEZJAIBNwMkFP8YJgSAnZ4lJgUAlW44NwYnEwIAAADKysrKLIEFYWJjIDEsAgTDhCB4LIMFYWJjIDE\
            sBQTDhCB4GCQHASQIATAJQQSfrYSurgi7738BABTYLO9qCd4rDPhxtc4MTx0TpZpZNAfLRXafEHDiwkcP5bG/5jEzwLDNxk6kvzeRqOwqB/\
            1PNwo1ASkBJAIDGCQCYDAEFAABAgMEBQYHCAkKCwwNDg8QERITMAUUFBUWFxgZGhscHR4fICEiIyQlJicYMAtAr/8sYsSIem4ZSJxLGTjNy\
            e3jIuDTb/s1VJVHf4RbggcJuUNzLmb7ZhWghAPvWI+2ru++bi5tloP7MhlZQ+fTBxg=
            """,
            """
            MIIBkKADAgECAhRACJEZoiqzO8RM1V3mbvd/gAiRGTAKBggqhkjOPQQDAjAiMSAwHgYKKwYBBAGConwBBAwQMDAwMDAwMDAwMDAwMDBGRjA\
            eFw0yMDAxMDEwMDAwMDBaFw0zMDAxMDEwMDAwMDBaMGAxIDAeBgorBgEEAYKifAEDDBBDQUNBQ0FDQTAwMDAwMDAyMQ4wDAYDVQQDEwVhYm\
            MgMTENMAsGA1UEBAwEw4QgeDEOMAwGA1UEBRMFYWJjIDExDTALBgNVBAcMBMOEIHgwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASfrYSur\
            gi7738BABTYLO9qCd4rDPhxtc4MTx0TpZpZNAfLRXafEHDiwkcP5bG/5jEzwLDNxk6kvzeRqOwqB/1Po2YwZDASBgNVHRMBAf8ECDAGAQH/\
            AgEDMA4GA1UdDwEB/wQEAwIBBjAdBgNVHQ4EFgQUAAECAwQFBgcICQoLDA0ODxAREhMwHwYDVR0jBBgwFoAUFBUWFxgZGhscHR4fICEiIyQ\
            lJic=
            """),
        // The next four standard attributes.
        Vector(
            "secondNames",
            """
            FTABFEAIkRmiKrM7xEzVXeZu93+ACJEZJAIBNwMkFP8YJgSAnZ4lJgUAlW44NwYnEwIAAADKysrKLIYFYWJjIDEsBwTDhCB4LIgFYWJjIDE\
            sCQTDhCB4GCQHASQIATAJQQSfrYSurgi7738BABTYLO9qCd4rDPhxtc4MTx0TpZpZNAfLRXafEHDiwkcP5bG/5jEzwLDNxk6kvzeRqOwqB/\
            1PNwo1ASkBJAIDGCQCYDAEFAABAgMEBQYHCAkKCwwNDg8QERITMAUUFBUWFxgZGhscHR4fICEiIyQlJicYMAtAoRrFxbtkkIdSFlSFHAm3S\
            pabHW/tMsgGLInoyZXeyJBg/h2AYErA37l+U/G8LEcYFmeR5eaDO6a4J1swcGNYFRg=
            """,
            """
            MIIBkKADAgECAhRACJEZoiqzO8RM1V3mbvd/gAiRGTAKBggqhkjOPQQDAjAiMSAwHgYKKwYBBAGConwBBAwQMDAwMDAwMDAwMDAwMDBGRjA\
            eFw0yMDAxMDEwMDAwMDBaFw0zMDAxMDEwMDAwMDBaMGAxIDAeBgorBgEEAYKifAEDDBBDQUNBQ0FDQTAwMDAwMDAyMQ4wDAYDVQQIEwVhYm\
            MgMTENMAsGA1UECgwEw4QgeDEOMAwGA1UECxMFYWJjIDExDTALBgNVBAwMBMOEIHgwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASfrYSur\
            gi7738BABTYLO9qCd4rDPhxtc4MTx0TpZpZNAfLRXafEHDiwkcP5bG/5jEzwLDNxk6kvzeRqOwqB/1Po2YwZDASBgNVHRMBAf8ECDAGAQH/\
            AgEDMA4GA1UdDwEB/wQEAwIBBjAdBgNVHQ4EFgQUAAECAwQFBgcICQoLDA0ODxAREhMwHwYDVR0jBBgwFoAUFBUWFxgZGhscHR4fICEiIyQ\
            lJic=
            """),
        // The next four standard attributes.
        Vector(
            "thirdNames",
            """
            FTABFEAIkRmiKrM7xEzVXeZu93+ACJEZJAIBNwMkFP8YJgSAnZ4lJgUAlW44NwYnEwIAAADKysrKLIoFYWJjIDEsCwTDhCB4LIwFYWJjIDE\
            sDQTDhCB4GCQHASQIATAJQQSfrYSurgi7738BABTYLO9qCd4rDPhxtc4MTx0TpZpZNAfLRXafEHDiwkcP5bG/5jEzwLDNxk6kvzeRqOwqB/\
            1PNwo1ASkBJAIDGCQCYDAEFAABAgMEBQYHCAkKCwwNDg8QERITMAUUFBUWFxgZGhscHR4fICEiIyQlJicYMAtAipwb7Agx9N7ZnzQVZTbn5\
            3WDr1xbVf13Gn33LPharghKHZNlbi+9xMgcV0jdw7vbRl6cHmHXDamgUwuglvHV/Rg=
            """,
            """
            MIIBkKADAgECAhRACJEZoiqzO8RM1V3mbvd/gAiRGTAKBggqhkjOPQQDAjAiMSAwHgYKKwYBBAGConwBBAwQMDAwMDAwMDAwMDAwMDBGRjA\
            eFw0yMDAxMDEwMDAwMDBaFw0zMDAxMDEwMDAwMDBaMGAxIDAeBgorBgEEAYKifAEDDBBDQUNBQ0FDQTAwMDAwMDAyMQ4wDAYDVQQpEwVhYm\
            MgMTENMAsGA1UEKgwEw4QgeDEOMAwGA1UEKxMFYWJjIDExDTALBgNVBCwMBMOEIHgwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASfrYSur\
            gi7738BABTYLO9qCd4rDPhxtc4MTx0TpZpZNAfLRXafEHDiwkcP5bG/5jEzwLDNxk6kvzeRqOwqB/1Po2YwZDASBgNVHRMBAf8ECDAGAQH/\
            AgEDMA4GA1UdDwEB/wQEAwIBBjAdBgNVHQ4EFgQUAAECAwQFBgcICQoLDA0ODxAREhMwHwYDVR0jBBgwFoAUFBUWFxgZGhscHR4fICEiIyQ\
            lJic=
            """),
        // The last two text attributes.
        Vector(
            "lastNames",
            """
            FTABFEAIkRmiKrM7xEzVXeZu93+ACJEZJAIBNwMkFP8YJgSAnZ4lJgUAlW44NwYnEwIAAADKysrKLI4FYWJjIDEsDwTDhCB4GCQHASQIATA\
            JQQSfrYSurgi7738BABTYLO9qCd4rDPhxtc4MTx0TpZpZNAfLRXafEHDiwkcP5bG/5jEzwLDNxk6kvzeRqOwqB/1PNwo1ASkBJAIDGCQCYD\
            AEFAABAgMEBQYHCAkKCwwNDg8QERITMAUUFBUWFxgZGhscHR4fICEiIyQlJicYMAtAD2EIoDCmILUHBXaUTVcjWECWiBKl2m3VvAEA9yAll\
            KGG0XGo0e+9XzIFQkesh/kB2UULDSru7qvx11jPlmXYCxg=
            """,
            """
            MIIBcaADAgECAhRACJEZoiqzO8RM1V3mbvd/gAiRGTAKBggqhkjOPQQDAjAiMSAwHgYKKwYBBAGConwBBAwQMDAwMDAwMDAwMDAwMDBGRjA\
            eFw0yMDAxMDEwMDAwMDBaFw0zMDAxMDEwMDAwMDBaMEExIDAeBgorBgEEAYKifAEDDBBDQUNBQ0FDQTAwMDAwMDAyMQ4wDAYDVQQuEwVhYm\
            MgMTENMAsGA1UEQQwEw4QgeDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABJ+thK6uCLvvfwEAFNgs72oJ3isM+HG1zgxPHROlmlk0B8tFd\
            p8QcOLCRw/lsb/mMTPAsM3GTqS/N5Go7CoH/U+jZjBkMBIGA1UdEwEB/wQIMAYBAf8CAQMwDgYDVR0PAQH/BAQDAgEGMB0GA1UdDgQWBBQA\
            AQIDBAUGBwgJCgsMDQ4PEBESEzAfBgNVHSMEGDAWgBQUFRYXGBkaGxwdHh8gISIjJCUmJw==
            """),
        // A domain component and a country.
        Vector(
            "domain",
            """
            FTABAQUkAgE3AyQU/xgmBICdniUmBQCVbjg3BicUAgAAAMrKysosEAdleGFtcGxlLIQCVVMYJAcBJAgBMAlBBJ+thK6uCLvvfwEAFNgs72o\
            J3isM+HG1zgxPHROlmlk0B8tFdp8QcOLCRw/lsb/mMTPAsM3GTqS/N5Go7CoH/U83CjUBKQEkAgMYJAJgMAQUAAECAwQFBgcICQoLDA0ODx\
            AREhMwBRQUFRYXGBkaGxwdHh8gISIjJCUmJxgwC0Borc8Q7Myg5GqojsZBSdajAhinN6yPQkB2+34otsXiza5vUN/II/wwCUKsregOuMIAl\
            XZm7NK0mpGCb43HdQryGA==
            """,
            """
            MIIBZaADAgECAgEFMAoGCCqGSM49BAMCMCIxIDAeBgorBgEEAYKifAEEDBAwMDAwMDAwMDAwMDAwMEZGMB4XDTIwMDEwMTAwMDAwMFoXDTM\
            wMDEwMTAwMDAwMFowSDEgMB4GCisGAQQBgqJ8AQQMEENBQ0FDQUNBMDAwMDAwMDIxFzAVBgoJkiaJk/IsZAEZFgdleGFtcGxlMQswCQYDVQ\
            QGEwJVUzBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABJ+thK6uCLvvfwEAFNgs72oJ3isM+HG1zgxPHROlmlk0B8tFdp8QcOLCRw/lsb/mM\
            TPAsM3GTqS/N5Go7CoH/U+jZjBkMBIGA1UdEwEB/wQIMAYBAf8CAQMwDgYDVR0PAQH/BAQDAgEGMB0GA1UdDgQWBBQAAQIDBAUGBwgJCgsM\
            DQ4PEBESEzAfBgNVHSMEGDAWgBQUFRYXGBkaGxwdHh8gISIjJCUmJw==
            """),
        // Uncommon key usages and purposes.
        Vector(
            "usage",
            """
            FTABAQUkAgE3AyQU/xgmBICdniUmBQCVbjg3BicSAgAAAMrKysoYJAcBJAgBMAlBBJ+thK6uCLvvfwEAFNgs72oJ3isM+HG1zgxPHROlmlk\
            0B8tFdp8QcOLCRw/lsb/mMTPAsM3GTqS/N5Go7CoH/U83CjUBKAEYJAKfNgMEAwQEBAUEBhgwBBQAAQIDBAUGBwgJCgsMDQ4PEBESEzAFFB\
            QVFhcYGRobHB0eHyAhIiMkJSYnGDALQJAcKu2uGwKYO6G6CGaeTvr7Wpo9Ux1THX+wyYcLPnG638naHlH3GUlogQjInR/DEFrxnZ75ZTOxs\
            q/5X+EdysgY
            """,
            """
            MIIBcaADAgECAgEFMAoGCCqGSM49BAMCMCIxIDAeBgorBgEEAYKifAEEDBAwMDAwMDAwMDAwMDAwMEZGMB4XDTIwMDEwMTAwMDAwMFoXDTM\
            wMDEwMTAwMDAwMFowIjEgMB4GCisGAQQBgqJ8AQIMEENBQ0FDQUNBMDAwMDAwMDIwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASfrYSurg\
            i7738BABTYLO9qCd4rDPhxtc4MTx0TpZpZNAfLRXafEHDiwkcP5bG/5jEzwLDNxk6kvzeRqOwqB/1Po4GXMIGUMAwGA1UdEwEB/wQCMAAwD\
            gYDVR0PAQH/BAQDAgD5MDQGA1UdJQEB/wQqMCgGCCsGAQUFBwMDBggrBgEFBQcDBAYIKwYBBQUHAwgGCCsGAQUFBwMJMB0GA1UdDgQWBBQA\
            AQIDBAUGBwgJCgsMDQ4PEBESEzAfBgNVHSMEGDAWgBQUFRYXGBkaGxwdHh8gISIjJCUmJw==
            """),
        // An unknown extension.
        Vector(
            "unknownExtension",
            """
            FTABAQUkAgE3AyQU/xgmBICdniUmBQCVbjg3BicRAQABAN7e3t4nFWLTFdEIyQYpGCQHASQIATAJQQSfrYSurgi7738BABTYLO9qCd4rDPh\
            xtc4MTx0TpZpZNAfLRXafEHDiwkcP5bG/5jEzwLDNxk6kvzeRqOwqB/1PNwo1ASgBGCQCATYDBAIEARgwBBQAAQIDBAUGBwgJCgsMDQ4PEB\
            ESEzAFFBQVFhcYGRobHB0eHyAhIiMkJSYnMAYLMAkGAyoDBAQCBQAYMAtAmp3FbL/0j+/cj+fe9aoLvx9tE5+C097y6I1NtNXKqzQ7Gvpgj\
            GRaX51CQI9gqsLM46r5uzhlOfk9PqsoNdJn7xg=
            """,
            """
            MIIBiqADAgECAgEFMAoGCCqGSM49BAMCMCIxIDAeBgorBgEEAYKifAEEDBAwMDAwMDAwMDAwMDAwMEZGMB4XDTIwMDEwMTAwMDAwMFoXDTM\
            wMDEwMTAwMDAwMFowRDEgMB4GCisGAQQBgqJ8AQEMEERFREVERURFMDAwMTAwMDExIDAeBgorBgEEAYKifAEFDBAyOTA2QzkwOEQxMTVEMz\
            YyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEn62Erq4Iu+9/AQAU2CzvagneKwz4cbXODE8dE6WaWTQHy0V2nxBw4sJHD+Wxv+YxM8Cwz\
            cZOpL83kajsKgf9T6OBjjCBizAMBgNVHRMBAf8EAjAAMA4GA1UdDwEB/wQEAwIHgDAgBgNVHSUBAf8EFjAUBggrBgEFBQcDAgYIKwYBBQUH\
            AwEwHQYDVR0OBBYEFAABAgMEBQYHCAkKCwwNDg8QERITMB8GA1UdIwQYMBaAFBQVFhcYGRobHB0eHyAhIiMkJSYnMAkGAyoDBAQCBQA=
            """),
    ]
}
