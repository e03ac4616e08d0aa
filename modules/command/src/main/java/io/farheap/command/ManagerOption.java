package io.farheap.command;

import io.farheap.control.ControlException;
import io.farheap.manager.grpc.ManagerClient;
import java.util.List;
import picocli.CommandLine.Option;

/** The option that names the cache managers to ask. */
public final class ManagerOption {

    @Option(
            names = "--manager",
            paramLabel = "HOST:PORT",
            split = ",",
            required = true,
            description = "Cache managers, of which the first that leads is asked; with commas between.")
    private List<String> addresses;

    /** @throws ControlException if none of them answers */
    public ManagerClient connect() {
        return ManagerClient.connectFirst(addresses);
    }
}
