package io.farheap.bench.figures;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Versions as programs print them. */
@Needs(Need.HOST)
class PeerVersionsTest {

    @TempDir
    private Path directory;

    private String version(String script) throws IOException, InterruptedException {
        Path program = Files.writeString(directory.resolve("program"), "#!/bin/sh\n" + script);
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
        return PeerVersions.version(directory, List.of(program.toString(), "--version"));
    }

    @Test
    void aProgramThatEndsWithOneHasAVersion() throws Exception {
        assertEquals("Version: 6.06", version("[ $1 = --version ] && echo 'Version: 6.06'\nexit 1\n"), "as perftest");
    }

    @Test
    void theVersionIsTheFirstLineWithANumber() throws Exception {
        assertEquals("# Library version: 1.13.1", version("echo '# UCX'\necho '# Library version: 1.13.1'\n"));
        assertNull(version("echo 'usage: program [--size N]'\nexit 1\n"));
        assertNull(version(""));
    }

    @Test
    void aProgramThatIsNotInstalledHasNone() throws Exception {
        assertNull(PeerVersions.version(directory, List.of("no-such-program-here", "--version")));
    }
}
