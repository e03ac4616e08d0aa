package io.farheap.testing;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The result of a JVM on the software device, which has ended.
 *
 * @param output of both streams
 */
public record SoftJvm(int status, String output) {

    /**
     * @param shell a command that runs the command behind it, or none
     * @param flags of the JVM
     */
    public static SoftJvm run(
            List<String> shell, List<String> flags, String classPath, Class<?> main, String... arguments)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(shell);
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-Dfarheap.verbs=soft"));
        command.addAll(flags);
        command.addAll(List.of("-cp", classPath, main.getName()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new SoftJvm(process.waitFor(), output);
    }

    /** Runs a program on this JVM's class path. */
    public static SoftJvm run(List<String> shell, Class<?> main, String... arguments)
            throws IOException, InterruptedException {
        return run(shell, List.of(), System.getProperty("java.class.path"), main, arguments);
    }
}
