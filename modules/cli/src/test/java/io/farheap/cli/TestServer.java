package io.farheap.cli;

import io.farheap.command.ServerProcess;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Devices;
import java.util.List;
import java.util.Map;

/**
 * Memory servers of tests, in processes of their own. They run only for seconds, so the optimising compiler would not
 * pay: it takes a third of the cost of a server's start. The servers of the soak and the demo have it, as users'
 * servers do.
 */
final class TestServer {

    private static final List<String> FLAGS = List.of("-XX:TieredStopAtLevel=1");

    private TestServer() {}

    /** @param options further options of the {@code server} command */
    static ServerProcess start(long memoryBytes, long regionBytes, String... options) {
        return ServerProcess.start(
                Devices.library(), TestDevice.server(), memoryBytes, regionBytes, Map.of(), FLAGS, options);
    }
}
