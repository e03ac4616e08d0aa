package io.farheap.manager.service;

import io.farheap.command.Subcommand;
import io.farheap.command.Termination;
import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.ManagerClient;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code farheap top}: what a manager knows, once a second, until SIGTERM or SIGINT. */
@Command(
        name = "top",
        description = "Show a manager's servers and caches, every second, until SIGTERM or Ctrl-C.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
public final class TopCommand implements Subcommand, Callable<Integer> {

    private static final long PERIOD_MILLIS = 1_000;
    /** Home, and nothing below it. */
    private static final String CLEAR = "\033[H\033[J";

    @Option(
            names = "--manager",
            required = true,
            split = ",",
            paramLabel = "HOST:PORT",
            description = "The cache managers, with commas between; the first that answers is asked.")
    private List<String> managers;

    @Option(names = "--once", description = "Show it once, and end.")
    private boolean once;

    @Option(names = "--json", description = "As JSON, one line each time.")
    private boolean json;

    @Spec
    private CommandSpec spec;

    private @Nullable ManagerClient manager;

    @Override
    public Integer call() throws InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        try {
            if (once) {
                out.print(text(Overview.of(connected())));
                out.flush();
                return 0;
            }
            // What is mistyped ends it; a manager that ends later does not.
            connected();
            Termination termination = Termination.watch(false);
            do {
                look(out);
            } while (!termination.await(PERIOD_MILLIS) && !out.checkError());
            return 0;
        } finally {
            disconnect();
        }
    }

    private void look(PrintWriter out) {
        try {
            String text = text(Overview.of(connected()));
            out.print(json ? text : CLEAR + text);
        } catch (ControlException e) {
            if (e.code() != Code.UNAVAILABLE && e.code() != Code.DEADLINE_EXCEEDED) {
                throw e;
            }
            disconnect();
            spec.commandLine().getErr().println("farheap: " + e.getMessage());
        }
    }

    private ManagerClient connected() {
        if (manager == null) {
            manager = ManagerClient.connectFirst(managers);
        }
        return manager;
    }

    private void disconnect() {
        if (manager != null) {
            manager.close();
            manager = null;
        }
    }

    private String text(Overview overview) {
        return json ? overview.json() + "\n" : overview.table();
    }
}
