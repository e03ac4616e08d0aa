package io.farheap.bench.child;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import org.jspecify.annotations.Nullable;

/**
 * A build of Farheap's command line.
 *
 * @param title for messages: {@code this build}
 * @param launch the arguments with which {@code java} runs it: a class path and the main class, or a jar
 */
public record FarheapBuild(String title, List<String> launch) {

    private static final String MAIN = "io.farheap.cli.Main";

    /** The build that this process runs. */
    public static FarheapBuild current() {
        return new FarheapBuild("this build", List.of("-cp", System.getProperty("java.class.path"), MAIN));
    }

    /** @throws IllegalArgumentException if it is not an executable jar of Farheap; the message begins with the file */
    public static FarheapBuild of(Path jar) {
        if (!Files.exists(jar)) {
            throw new IllegalArgumentException(jar + ": there is no such file");
        }
        if (!MAIN.equals(mainClass(jar))) {
            throw new IllegalArgumentException(jar + ": it is not an executable jar of Farheap, such as a build's "
                    + "modules/cli/target/farheap-cli-VERSION-all.jar");
        }
        return new FarheapBuild(jar.toString(), List.of("-jar", jar.toString()));
    }

    private static @Nullable String mainClass(Path jar) {
        try (JarFile file = new JarFile(jar.toFile())) {
            Manifest manifest = file.getManifest();
            return manifest == null ? null : manifest.getMainAttributes().getValue(Attributes.Name.MAIN_CLASS);
        } catch (IOException e) {
            return null;
        }
    }
}
