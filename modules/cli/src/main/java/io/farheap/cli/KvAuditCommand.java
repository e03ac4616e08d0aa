package io.farheap.cli;

import io.farheap.kv.FarMap;
import io.farheap.kv.MapAudit;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code farheap kv audit}. */
@Command(
        name = "audit",
        description = "Account for every block of a map: an object's, free at a session, or free at a server. Collects "
                + "what dead clients left. It reads the whole table twice.",
        mixinStandardHelpOptions = true)
final class KvAuditCommand implements Callable<Integer> {

    @Mixin
    private KvOptions options;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        try (FarMap map = options.builder().open()) {
            MapAudit audit = map.audit();
            PrintWriter out = spec.commandLine().getOut();
            out.println(audit);
            if (!audit.sound()) {
                out.println("wrong: " + audit.wrong() + " slots or sessions name a block that there is not, "
                        + "and " + audit.twice().size()
                        + " blocks have two owners; a client wrote what it must not: drop the map and make it anew");
                return 1;
            }
            if (!audit.quiet()) {
                out.println("others use the map, so blocks have moved meanwhile and the sum is not exact");
            }
        }
        return 0;
    }
}
