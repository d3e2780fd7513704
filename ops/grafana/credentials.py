"""Dashboards of certificates and fiscal numbers."""

from ops.grafana.model import ENVIRONMENT, INSTANCE, Dashboard, Panel, largest, quantiles, rate

SIGNING = Dashboard(
    "fe-signing",
    "fe 4 · Signing and certificates",
    "How long making and signing takes, and whose certificates come to their end.",
    {
        "Signing": (
            Panel(
                "Making, checking, signing",
                "In a thread; without what it waited for.",
                quantiles("fe_sign_seconds", INSTANCE),
                unit="s",
                width=12,
            ),
            Panel(
                "The sign step",
                "`error`: it can never be signed as it is (no certificate, a broken rule); its client sees why.",
                {"{{outcome}}": rate("fe_steps_total", INSTANCE, 'stage="sign"', by="outcome")},
                unit="ops",
                width=12,
            ),
        ),
        "Keys": (
            Panel(
                "Private keys decrypted",
                "At most once a minute for each that signs. `failed`: another key-encryption key, or changed bytes.",
                {"{{outcome}}": rate("fe_certificates_decrypted_total", INSTANCE, by="outcome")},
                unit="ops",
                width=24,
            ),
        ),
        "Certificates": (
            Panel(
                "Certificates in use, by time left",
                "Of tenants at work within 30 days. Nothing can be signed with an expired one.",
                {"{{expires}} {{at_work_in}}": largest("fe_certificates", by="expires, at_work_in")},
                stacked=True,
                width=16,
            ),
            Panel(
                "Expired, or about to",
                "Expired and within 7 days: ops/runbooks/certificate-expiry.md.",
                {
                    "{{expires}} {{at_work_in}}": largest(
                        "fe_certificates", 'expires=~"expired|within_7_days"', by="expires, at_work_in"
                    )
                },
                shape="stat",
                limits=(1, 1),
            ),
        ),
    },
    since="now-24h",
)

SEQUENCES = Dashboard(
    "fe-sequences",
    "fe 6 · Sequences",
    "Fiscal numbers: whose run out, and whose expire.",
    {
        "Numbers": (
            Panel(
                "Active sequences, by numbers left",
                "Of tenants at work within 30 days. `under_3_days`: at the average pace of its life.",
                {"{{left}} {{environment}}": largest("fe_sequences", ENVIRONMENT, by="environment, left")},
                width=16,
            ),
            Panel(
                "Used up, or about to",
                "Production only: ops/runbooks/sequence-running-out.md.",
                {"{{left}}": largest("fe_sequences", 'environment="ecf", left!="enough"', by="left")},
                shape="stat",
                limits=(1, 10),
            ),
            Panel(
                "Active sequences, by time left",
                "Numbers of an expired range are lost. `never`: no expiry was given.",
                {
                    "{{expires}} {{environment}}": largest(
                        "fe_sequences_expiring", ENVIRONMENT, by="environment, expires"
                    )
                },
                width=16,
            ),
            Panel(
                "Expired, or about to",
                "Production only: expired, and within 15 days.",
                {
                    "{{expires}}": largest(
                        "fe_sequences_expiring", 'environment="ecf", expires=~"expired|within_15_days"', by="expires"
                    )
                },
                shape="stat",
                limits=(1, 10),
            ),
        ),
    },
    since="now-7d",
)
