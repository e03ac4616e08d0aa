package io.farheap.testing;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;

/** Another process that tries to lock a file, as the JDK does. */
public final class LockProbe {

    private LockProbe() {}

    /** Whether another process gets the lock of a file, which it gives up again. */
    public static boolean isFree(Path file) throws IOException, InterruptedException {
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xshare:auto",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        LockProbe.class.getName(),
                        file.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            String said = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!child.waitFor(TestDevice.patience(60), TimeUnit.SECONDS) || child.exitValue() != 0) {
                throw new AssertionError("the other process has not said whether it gets the lock of " + file);
            }
            return Boolean.parseBoolean(said);
        } finally {
            child.destroyForcibly();
        }
    }

    /** @param arguments the file */
    public static void main(String[] arguments) throws IOException {
        try (FileChannel channel = FileChannel.open(Path.of(arguments[0]), StandardOpenOption.WRITE)) {
            System.out.print(channel.tryLock() != null);
        }
    }
}
