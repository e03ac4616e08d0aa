package io.farheap.manager.service.commands;

import io.farheap.command.ManagerOption;
import io.farheap.manager.grpc.ManagerClient;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code farheap manager drain}: asks a server to leave within its notice, by way of the manager, without access to the
 * server's process.
 */
@Command(
        name = "drain",
        description = "Let a memory server leave within its notice, as SIGTERM to it does: it gets no more caches, its "
                + "caches move, and it ends.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
final class DrainCommand implements Callable<Integer> {

    @Parameters(paramLabel = "HOST:PORT", description = "The server, as farheap top shows it.")
    private String server;

    @Mixin
    private ManagerOption managers;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        try (ManagerClient manager = managers.connect()) {
            manager.drain(server);
        }
        spec.commandLine()
                .getOut()
                .println("memory server " + server + " gets no more caches, and is asked to leave within its notice");
        return 0;
    }
}
