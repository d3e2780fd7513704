"""Dashboards of client traffic: requests, logins and refusals."""

from ops.grafana.model import ENVIRONMENT, INSTANCE, SERVED, Dashboard, Panel, largest, quantile, quantiles, rate, share

OVERVIEW = Dashboard(
    "fe-overview",
    "fe 1 · Overview",
    "Is it up, is it fast, is it right: rate, errors and duration of what clients ask for.",
    {
        "At a glance": (
            Panel(
                "Error budget left, 30 days",
                "Of the 0.1 % of requests that may fail in 30 days. Below 0 the objective is missed.",
                {
                    "budget": "1 - 1000 *"
                    f' sum(increase(fe_http_requests_total{{{SERVED}, status=~"5.."}}[30d]))'
                    f" / (sum(increase(fe_http_requests_total{{{SERVED}}}[30d])) > 0)"
                },
                unit="percentunit",
                below_zero=True,
                floors=(0.25, 0),
                idle="no requests",
                shape="stat",
                width=4,
                height=4,
            ),
            Panel(
                "Verdict p95, 202 to the end",
                "How long 19 of 20 documents took from their acceptance to the authority's verdict.",
                {"p95": quantile(0.95, "fe_submission_verdict_seconds", ENVIRONMENT)},
                unit="s",
                shape="stat",
                width=4,
                height=4,
                limits=(30, 60),
                idle="no verdicts",
                leads_to="fe-pipeline",
            ),
            Panel(
                "Oldest due work",
                "How late the latest row of the outbox is. Above a minute something does not keep up.",
                {"late": largest("fe_outbox_oldest_late_seconds", ENVIRONMENT)},
                leads_to="fe-pipeline",
                unit="s",
                shape="stat",
                width=4,
                height=4,
                limits=(60, 300),
            ),
            Panel(
                "Dead letters",
                "Documents that gave up and wait for an operator: ops/runbooks/replay-dead-letters.md.",
                {"rows": f"sum({largest('fe_dead_letters', ENVIRONMENT, by='stage, environment')})"},
                leads_to="fe-pipeline",
                shape="stat",
                width=4,
                height=4,
                limits=(1, 10),
            ),
            Panel(
                "Unknown outcomes",
                "Documents that the authority may have or not: ops/runbooks/resolve-unknown-outcome.md.",
                {"rows": f"sum({largest('fe_outcomes_unknown', ENVIRONMENT, by='environment')})"},
                leads_to="fe-authority",
                shape="stat",
                width=4,
                height=4,
                limits=(1, 100),
            ),
            Panel(
                "Alerts firing",
                "Alerts of ops/prometheus/rules, without the one that always fires.",
                {"alerts": 'count(ALERTS{alertstate="firing", alertname=~"Fe.+", severity!="heartbeat"}) or vector(0)'},
                shape="stat",
                width=4,
                height=4,
                limits=(1, 5),
            ),
        ),
        "Requests": (
            Panel(
                "Requests",
                "By route template. `none`: no such path, or turned away before the path was looked at.",
                {"{{route}}": f"{rate('fe_http_requests_total', INSTANCE, by='route')} > 0"},
                unit="reqps",
                idle="no requests",
            ),
            Panel(
                "Answered with",
                "By status. 0: the client left before there was an answer.",
                {"{{status}}": rate("fe_http_requests_total", INSTANCE, by="status")},
                unit="reqps",
            ),
            Panel(
                "Failed, by route",
                "The share answered with 5xx: what the error budget is spent on.",
                {
                    "{{route}}": share("fe_http_requests_total", 'status=~"5.."', SERVED, by="route"),
                },
                unit="percentunit",
                limits=(0.001, 0.01),
            ),
            Panel(
                "Duration, all routes",
                "From the request's head to the end of the answer. A status query may wait for a verdict on purpose.",
                quantiles("fe_http_request_seconds", SERVED),
                unit="s",
            ),
            Panel(
                "Duration p95, by route",
                "The same, by route template.",
                {"{{route}}": quantile(0.95, "fe_http_request_seconds", SERVED, by="route")},
                unit="s",
            ),
            Panel(
                "Accepted documents",
                "Answered 202, by environment and format; and repeats of a clientRequestId, which issue nothing.",
                {
                    "{{environment}} {{format}}": rate(
                        "fe_submissions_accepted_total", ENVIRONMENT, INSTANCE, by="environment, format"
                    ),
                    "repeat, {{body}} body": rate("fe_submissions_deduped_total", INSTANCE, by="body"),
                },
                unit="reqps",
            ),
        ),
        "Saturation": (
            Panel(
                "Requests in work, and connections",
                "Per process; at FE_MAX_IN_FLIGHT, or FE_MAX_CONNECTIONS, it turns away with 503.",
                {
                    "{{instance}}": f"fe_http_in_flight{{{INSTANCE}}}",
                    "connections {{instance}}": f"fe_http_connections{{{INSTANCE}}}",
                },
            ),
            Panel(
                "Turned away, and connections that failed",
                "Requests shed under overload; refused because one tenant or address had its share, by what is shared; "
                "connections that ended by a fault of their own, by kind of fault; large documents whose process "
                "failed, by reason; failed requests that the request log of tenants left out.",
                {
                    "shed {{instance}}": rate("fe_http_shed_total", INSTANCE, by="instance"),
                    "share of {{limit}}": rate("fe_share_refused_total", INSTANCE, by="limit"),
                    "{{kind}}": rate("fe_http_connection_faults_total", INSTANCE, by="kind"),
                    "large: {{reason}}": rate("fe_large_document_failures_total", INSTANCE, by="reason"),
                    "not in the request log": rate("fe_request_log_dropped_total", INSTANCE),
                },
                unit="reqps",
            ),
            Panel(
                "Event loop lag p99",
                "How late the event loop runs a task that is due. Above 0.25 s everything in the process waits.",
                {"{{instance}}": quantile(0.99, "fe_loop_lag_seconds", INSTANCE, by="instance")},
                unit="s",
                limits=(0.05, 0.25),
            ),
            Panel(
                "Processes",
                "By role and version: two versions at once are a release under way.",
                {"{{role}} {{version}}": f"sum by (role, version) (fe_up{{{INSTANCE}}})"},
                shape="timeseries",
                width=12,
            ),
            Panel(
                "Up since",
                "How long each process has been running. A saw is a process that keeps dying.",
                {"{{instance}}": f"time() - process_start_time_seconds{{{INSTANCE}}}"},
                unit="s",
                width=12,
            ),
        ),
    },
)

SECURITY = Dashboard(
    "fe-security",
    "fe 5 · Login and security",
    "Who gets in, who is kept out, and what is refused at the door.",
    {
        "Login": (
            Panel(
                "Logins",
                "`refused`: wrong secret or no such key; `throttled`: locked out for a while.",
                {"{{outcome}}": rate("fe_login_total", INSTANCE, by="outcome")},
                unit="reqps",
            ),
            Panel(
                "Lockouts begun",
                "`key`: somebody guesses at one key's secret; `address`: one address guesses at many.",
                {"{{bucket}}": f"sum by (bucket) (increase(fe_login_lockouts_total{{{INSTANCE}}}[$__rate_interval]))"},
            ),
            Panel(
                "401, 403 and 429 by route",
                "Calls with a token that is missing, expired, revoked, or does not permit what was asked.",
                {
                    "{{route}} {{status}}": rate(
                        "fe_http_requests_total", INSTANCE, 'status=~"401|403|429"', by="route, status"
                    )
                },
                unit="reqps",
            ),
        ),
        "Refused at the door": (
            Panel(
                "Refused input, by reason",
                "`json`, `xml`: cannot be read; `document`: cannot become a document; `request`: a wrong field; "
                "`issuer`: another tenant's RNC.",
                {"{{reason}}": rate("fe_input_refused_total", INSTANCE, by="reason")},
                unit="reqps",
                width=12,
            ),
            Panel(
                "400, 408, 413, 415, 431",
                "By status, the guard's refusals included.",
                {
                    "{{status}}": rate(
                        "fe_http_requests_total", INSTANCE, 'status=~"400|404|405|408|413|415|431|505"', by="status"
                    )
                },
                unit="reqps",
                width=12,
            ),
        ),
    },
    since="now-6h",
)
