package fe.client;

import java.util.Collection;
import java.util.List;

/** Made from the service's description by `python -m clients.generate`: changes belong there. */
final class Members {
    static final List<String> ITEM = List.of("format", "payload", "clientRequestId", "asUser", "asUserId", "keepSignature", "strict", "simulate", "sequence", "notify", "metadata", "xml");
    static final List<String> SIMULATE = List.of("outcome", "code", "seconds", "now");
    static final List<String> WEBHOOK = List.of("url", "enabled", "events", "headers");

    private Members() {}

    /** Refuse names that do not exist: the service would ignore them. Throws IllegalArgumentException. */
    static void refuseUnknown(String what, Collection<String> given, List<String> members) {
        for (String name : given) {
            if (!members.contains(name)) {
                String meant = "there are " + String.join(", ", members);
                for (String member : members) {
                    if (member.equalsIgnoreCase(name.replaceAll("[_-]", ""))) {
                        meant = "did you mean " + member + "?";
                    }
                }
                throw new IllegalArgumentException(what + ": there is no " + name + "; " + meant);
            }
        }
    }
}
