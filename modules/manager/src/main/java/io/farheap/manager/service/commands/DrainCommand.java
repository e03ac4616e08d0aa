package io.farheap.manager.service.commands;

import io.farheap.manager.grpc.ManagerClient;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
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

    @Option(
            names = "--manager",
            required = true,
            split = ",",
            paramLabel = "HOST:PORT",
            description = "Its cache managers, separated by commas; the first that answers is asked.")
    private List<String> managers;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        try (ManagerClient manager = ManagerClient.connectFirst(managers)) {
            manager.drain(server);
        }
        spec.commandLine()
                .getOut()
                .println("memory server " + server + " gets no more caches, and is asked to leave within its notice");
        return 0;
    }
}
