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
 * {@code farheap manager forget}: gives up a server that is silent and will not come back, so that nothing waits for it
 * until {@code --forget-after}.
 */
@Command(
        name = "forget",
        description = "Give up a memory server that is silent and will not come back: what it held counts as lost. "
                + "A server that reports is refused.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
final class ForgetCommand implements Callable<Integer> {

    @Parameters(paramLabel = "HOST:PORT", description = "The server's address.")
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
            manager.forget(server);
        }
        spec.commandLine()
                .getOut()
                .println("memory server " + server
                        + " is given up: nothing waits for it, and what it held counts as lost");
        return 0;
    }
}
