package io.farheap.runner;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The JDK's ahead-of-time cache of the executable jar, which the launcher's JVMs and those of tests start with. */
final class AheadOfTime {

    static final String CACHE = "target/farheap.aot";

    private AheadOfTime() {}

    static Path jar() {
        try (DirectoryStream<Path> jars =
                Files.newDirectoryStream(Path.of("modules/cli/target"), "farheap-cli-*-all.jar")) {
            List<Path> found = new ArrayList<>();
            jars.forEach(found::add);
            if (found.size() != 1) {
                throw new IllegalStateException("there must be one executable jar; there are " + found);
            }
            return found.getFirst();
        } catch (IOException e) {
            throw new UncheckedIOException("the build has not made the executable jar", e);
        }
    }

    static List<String> record() {
        return List.of("src/runner/record-aot", jar().toString(), CACHE, Jdk.java());
    }
}
