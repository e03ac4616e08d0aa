package io.farheap.cli;

import io.farheap.command.ServerProcess;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Devices;
import java.util.List;
import java.util.Map;

/**
 * Memory servers of tests, in processes of their own. They live for seconds, and what the optimising compiler makes of
 * them would not pay: it is a third of what a server's start costs. Those of the soak and the demo have it, as users'
 * do.
 */
final class TestServer {

    private static final List<String> FLAGS = List.of("-XX:TieredStopAtLevel=1");

    private TestServer() {}

    /** @param options more of the {@code server} command's */
    static ServerProcess start(long memoryBytes, long regionBytes, String... options) {
        return ServerProcess.start(
                Devices.library(), TestDevice.server(), memoryBytes, regionBytes, Map.of(), FLAGS, options);
    }
}
