package io.farheap.runner;

import java.io.IOException;

/**
 * Ends what a run has started and left when this process ends: by a hook if it can, and else, also after SIGKILL, by a
 * process with a session of its own, which hears of the end by a pipe that no other process has.
 */
final class Watchdog implements AutoCloseable {

    private static final String SCRIPT = """
            trap '' INT TERM HUP
            read -r word
            [ "$word" = done ] && exit
            for round in {1..200}; do
                left=$(grep -lsz -x -e "$0" /proc/[0-9]*/environ | cut -d / -f 3)
                [ -n "$left" ] || exit
                ((round > 20)) && kill -9 $left || kill $left
                sleep 0.1
            done
            """;

    private final String mark;
    private final Process process;
    private final Thread hook;

    /** @param run what each process of the run has as {@link RunningItem#RUN_MARK} */
    Watchdog(String run) throws IOException {
        mark = RunningItem.RUN_MARK + "=" + run;
        process = new ProcessBuilder("setsid", "bash", "-c", SCRIPT, mark)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        hook = new Thread(() -> Processes.kill(mark));
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** Ends what is left of the run, too. */
    @Override
    public void close() throws IOException {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // This process is ending: the hook does its work.
        }
        // There is something if the run ended with an exception.
        Processes.kill(mark);
        try (var pipe = process.outputWriter()) {
            pipe.write("done\n");
        }
    }
}
