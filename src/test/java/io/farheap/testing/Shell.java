package io.farheap.testing;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Commands that change the guest; nothing else may use it. */
public final class Shell {

    private Shell() {}

    /** @return the command's output; fails if its exit code is not 0 */
    public static String run(String line) {
        Result result = result(line);
        if (result.status() != 0) {
            throw new AssertionError(line + " ended with " + result.status() + ": " + result.output());
        }
        return result.output();
    }

    public record Result(int status, String output) {}

    public static Result result(String line) {
        if (!TestDevice.inGuest()) {
            throw new AssertionError("not in the guest: the test must say that it needs it");
        }
        try {
            Process process = new ProcessBuilder("bash", "-c", line)
                    .redirectErrorStream(true)
                    .start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return new Result(process.waitFor(), output);
        } catch (IOException e) {
            throw new AssertionError(line, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(line, e);
        }
    }
}
