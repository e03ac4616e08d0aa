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
        description = "Account for every block of a map: it belongs to an object, is free at a session, or is free at "
                + "a server. Frees the blocks of dead clients. It reads the whole table twice.",
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
                out.println("wrong: " + audit.wrong() + " slots or sessions name a block that does not exist, "
                        + "and " + audit.twice().size()
                        + " blocks have two owners; a client has damaged the map: drop it and create it again");
                return 1;
            }
            if (!audit.quiet()) {
                out.println("other clients use the map, so blocks moved during the audit and the sum is not exact");
            }
        }
        return 0;
    }
}
