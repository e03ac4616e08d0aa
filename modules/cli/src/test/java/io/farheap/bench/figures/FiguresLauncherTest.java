package io.farheap.bench.figures;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * ./farheap installs and builds what the runs of figures need before the first of them: within a run it would count
 * against the limit of that run, and load the machine. The working directory is the root of the checkout.
 */
@Needs(Need.HOST)
class FiguresLauncherTest {

    /** The launcher's functions that are tested, with others that only print. */
    private static final String FUNCTIONS = """
        set -euo pipefail
        eval "$(sed -n '/^measures_figures() {/,/^}/p;/^prepare_figures() {/,/^}/p' farheap)"
        peer_packages=(redis-server=redis-server)
        coding_packages=(libisal2=/libisal.so.2)
        say() { echo "farheap: $*"; }
        require_packages() { echo "packages: $*"; return 1; }
        require_suite() { echo "suite: $*"; }
        ! measures_figures "$@" || prepare_figures
        """;

    private static String launch(String line) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("bash", "-c", FUNCTIONS, "farheap"));
        command.addAll(List.of(line.split(" ")));
        Process process = new ProcessBuilder(command)
                .directory(Path.of("").toAbsolutePath().toFile())
                .redirectErrorStream(true)
                .start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), printed);
        return printed;
    }

    @ParameterizedTest
    @ValueSource(strings = {"figures", "figures raw peers", "figures --quick", "figures --busy ycsb"})
    void peersAreInstalledAndBuiltBeforeTheRuns(String line) throws Exception {
        assertEquals("""
                packages: redis-server=redis-server
                packages: libisal2=/libisal.so.2
                suite: peers
                """, launch(line));
    }

    @ParameterizedTest
    @ValueSource(strings = {"figures --list", "figures --render", "figures -h", "figures --quick --help", "bench raw"})
    void withoutARunNothingIsInstalled(String line) throws Exception {
        assertEquals("", launch(line));
    }
}
