package io.farheap.bench.against;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

class SameArgumentsTest {

    @Command(name = "raw")
    @SuppressWarnings("UnusedVariable") // The test uses only its options.
    static final class Raw implements Runnable {

        @Option(
                names = {"-t", "--queue-depth"},
                split = ",")
        private List<Integer> depths;

        @Option(names = "--turns", defaultValue = "100")
        private int turns;

        @Option(names = "--json")
        private Path json;

        @Option(names = "--against")
        private Path against;

        @Spec
        private CommandSpec spec;

        private List<String> arguments;

        @Override
        public void run() {
            arguments = SameArguments.of(spec);
        }
    }

    @Command(name = "farheap")
    static final class Root {}

    @Command(name = "bench")
    static final class Bench {}

    private static String typed(String... arguments) {
        Raw raw = new Raw();
        new CommandLine(new Root())
                .addSubcommand(new CommandLine(new Bench()).addSubcommand(raw))
                .execute(arguments);
        return String.join(" ", raw.arguments);
    }

    @Test
    void runsGetWhatIsOfTheBenchmark() {
        assertEquals("bench raw", typed("bench", "raw", "--against", "other.jar"));
        assertEquals(
                "bench raw --queue-depth=1,16 --turns=5",
                typed("bench", "raw", "-t", "1,16", "--json=a b.json", "--turns=5", "--against", "other.jar"));
    }
}
