package io.farheap.bench.child;

import io.farheap.time.TimeLimit;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A process that ends with this one, in whatever way that ends: a shell between them waits for the end of its own
 * input, and then kills the process. If the process ends first, the shell ends with its status.
 */
public final class TetheredProcess {

    /** The shell ignores a terminal's signals: this process gets them too, and the shell waits for its end. */
    private static final String UNTIL_INPUT_ENDS = """
        trap '' HUP INT
        exec 3<&0
        "$@" </dev/null 3<&- &
        child=$!
        { while read -r line; do :; done; kill -KILL $child; } <&3 >/dev/null 2>&1 &
        watch=$!
        exec 3<&-
        wait $child 2>/dev/null
        status=$?
        kill -KILL $watch 2>/dev/null
        wait $watch 2>/dev/null
        exit $status
        """;

    private static final long STOP_SECONDS = TimeLimit.of(10);

    private TetheredProcess() {}

    /** @return the command of the shell, whose standard input is to be a pipe of this process */
    public static List<String> command(List<String> command) {
        List<String> shell = new ArrayList<>(List.of("/bin/sh", "-c", UNTIL_INPUT_ENDS, "sh"));
        shell.addAll(command);
        return shell;
    }

    /**
     * Sends SIGKILL if it still runs; returns when it has ended.
     *
     * @throws IOException if it does not end
     */
    public static void end(Process shell) throws IOException {
        shell.getOutputStream().close();
        boolean interrupted = Thread.interrupted();
        try {
            if (!shell.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException(
                        "a process that a benchmark started does not end; its shell has pid " + shell.pid());
            }
        } catch (InterruptedException e) {
            interrupted = true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
