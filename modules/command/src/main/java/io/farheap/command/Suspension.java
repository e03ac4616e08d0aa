package io.farheap.command;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A process of this host that is stopped by SIGSTOP until this is closed. A shell between the two processes sends the
 * signals. It sends SIGCONT also if this process ends, in whatever way: a stopped process cannot watch its standard
 * input.
 */
final class Suspension implements AutoCloseable {

    private static final String UNTIL_INPUT_ENDS = """
        trap '' HUP INT TERM
        kill -STOP "$1" || exit
        echo
        read -r line
        kill -CONT "$1" 2>/dev/null
        exit 0
        """;
    private static final long PAUSE_NANOS = 1_000_000;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final String GONE = "process %d cannot be stopped with SIGSTOP; it has ended, or is another user's";

    private final Process shell;

    /**
     * Stops a process; returns when none of its threads runs any more.
     *
     * @throws IllegalStateException if it has ended, or cannot be stopped
     */
    Suspension(long pid) {
        try {
            shell = new ProcessBuilder("/bin/sh", "-c", UNTIL_INPUT_ENDS, "sh", Long.toString(pid))
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start a shell to stop process " + pid, e);
        }
        try {
            if (shell.getInputStream().read() < 0) {
                throw new IllegalStateException(GONE.formatted(pid));
            }
            awaitStopped(pid);
        } catch (IOException e) {
            close();
            throw new UncheckedIOException(e);
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    /** The signal was sent before; each thread stops when it next enters the kernel or is interrupted. */
    private static void awaitStopped(long pid) throws IOException {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (!allStopped(Path.of("/proc", Long.toString(pid), "task"), pid)) {
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException("process " + pid
                        + " runs on after SIGSTOP; look at the state of its threads in /proc/" + pid
                        + "/task");
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private static boolean allStopped(Path tasks, long pid) throws IOException {
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(tasks)) {
            for (Path thread : threads) {
                if (!stopped(thread)) {
                    return false;
                }
            }
            return true;
        } catch (NoSuchFileException e) {
            throw new IllegalStateException(GONE.formatted(pid), e);
        }
    }

    private static boolean stopped(Path thread) throws IOException {
        String stat;
        try {
            stat = Files.readString(thread.resolve("stat"));
        } catch (NoSuchFileException e) {
            // This thread has ended.
            return true;
        } catch (IOException e) {
            // ESRCH: the thread has ended since its file was opened.
            return true;
        }
        // The name may have any character in it, so the state is what follows its last parenthesis.
        char state = stat.charAt(stat.lastIndexOf(')') + 2);
        if (state == 'Z' || state == 'X') {
            throw new IllegalStateException(GONE.formatted(Long.parseLong(stat.substring(0, stat.indexOf(' ')))));
        }
        return state == 'T' || state == 't';
    }

    /** Sends SIGCONT. Idempotent. */
    @Override
    public void close() {
        boolean interrupted = Thread.interrupted();
        try {
            shell.getOutputStream().close();
        } catch (IOException e) {
            // The shell has ended already.
        }
        while (true) {
            try {
                shell.waitFor();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
