package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Effort;
import io.farheap.testing.TestDevice;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The demo of coded memory as a user runs it, in processes of its own. */
class CodedDemoTest {

    private static final int SERVERS = 2 + 1 + 2;

    private final List<String> filesBefore = ProcessResources.sharedMemoryFiles();

    @AfterEach
    void noFileIsLeft() {
        assertEquals(filesBefore, ProcessResources.sharedMemoryFiles());
    }

    private static CommandProcess demo(String... more) throws Exception {
        List<String> arguments = new ArrayList<>(List.of(
                "demo",
                "--resilience",
                "2+1",
                "--kill",
                "1",
                "--region",
                "256k",
                "--device",
                TestDevice.client(),
                "--server-device",
                TestDevice.server()));
        arguments.addAll(List.of(more));
        return CommandProcess.start(Map.of(), arguments.toArray(String[]::new));
    }

    @Test
    void aKilledServerCostsNoByte() throws Exception {
        CommandProcess demo = demo("--seconds", Effort.isFull() ? "1" : "0.2");
        String output = demo.awaitEnd(0);
        assertTrue(output.contains("SIGKILL to memory server "), output);
        assertTrue(output.contains("whole again, "), output);
        assertTrue(output.contains("regenerated  "), output);
        assertTrue(output.contains("524,288 bytes against the local copy"), output);
        assertTrue(output.contains("every byte is right"), output);
        demo.assertNothingIsLeft();
    }

    @Test
    @Tag("full")
    void endedHalfWayItLeavesNothing() throws Exception {
        CommandProcess demo = demo("--seconds", "100");
        demo.awaitLine("load: ");
        demo.awaitProcesses(1 + SERVERS);
        demo.terminate();
        demo.assertNothingIsLeft();
    }

    @Test
    @Tag("full")
    void killedWhileItMendsItLeavesNothing() throws Exception {
        CommandProcess demo = demo("--seconds", "1");
        demo.awaitLine("SIGKILL to memory server ");
        demo.kill();
        demo.assertNothingIsLeft();
    }

    static Stream<Arguments> badInput() {
        return Stream.of(
                Arguments.of("--resilience 4", "--resilience 4: it is K+R, the data and parity splits of each page"),
                Arguments.of("--resilience 4+x", "--resilience 4+x: it is K+R"),
                Arguments.of("--resilience 0+2", "--resilience 0+2: k = 0 data splits; take 1 to 16"),
                Arguments.of("--resilience 17+2", "--resilience 17+2: k = 17 data splits; take 1 to 16"),
                Arguments.of("--resilience 4+5", "--resilience 4+5: r = 5 parity splits; take 0 to 4"),
                Arguments.of("--resilience 4+0", "without parity splits no server may be killed; take R of 1 to 4"),
                Arguments.of(
                        "--resilience 4+2 --kill 3",
                        "--kill 3: with --resilience 4+2 at most r = 2 servers may die at once; take 1 to 2, or an R "
                                + "of at least 3"),
                Arguments.of("--resilience 4+2 --kill 0", "--kill 0: with --resilience 4+2 at most r = 2"),
                Arguments.of("--kill 1", "--kill 1: it needs coded memory; add --resilience K+R"),
                Arguments.of("--resilience 4+2 --servers 3", "--servers: it has no meaning with --resilience"),
                Arguments.of("--resilience 4+2 --seconds 0", "--seconds 0.0: the load must run for more than 0"),
                Arguments.of(
                        "--resilience 4+2 --region 100000",
                        "--region 100000 bytes: with k = 4 the demo takes a power of two from 64 KiB to 256 MiB"));
    }

    @ParameterizedTest
    @MethodSource
    void badInput(String options, String sentence) {
        StringWriter messages = new StringWriter();
        int exit = Main.commandLine().setErr(new PrintWriter(messages, true)).execute(("demo " + options).split(" "));
        assertEquals(1, exit);
        assertTrue(messages.toString().contains(sentence), messages::toString);
        assertEquals(1, messages.toString().lines().count(), messages::toString);
    }
}
