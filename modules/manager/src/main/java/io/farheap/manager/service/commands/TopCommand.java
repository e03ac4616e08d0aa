package io.farheap.manager.service.commands;

import com.google.gson.JsonObject;
import io.farheap.command.Subcommand;
import io.farheap.command.Termination;
import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.ServerReport;
import io.farheap.manager.grpc.ManagerClient;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code farheap top}: shows what a manager knows, or what memory servers do, once a second, until SIGTERM or SIGINT.
 */
@Command(
        name = "top",
        description = "Show a manager's servers and caches, or the regions and clients of memory servers, every "
                + "second, until SIGTERM or Ctrl-C.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
public final class TopCommand implements Subcommand, Callable<Integer> {

    private static final long PERIOD_MILLIS = 1_000;
    /** The escape sequences for the cursor's home and for clearing all below it. */
    private static final String CLEAR = "\033[H\033[J";

    @Option(
            names = "--manager",
            split = ",",
            paramLabel = "HOST:PORT",
            description = "The cache managers, separated by commas; the first that answers is asked.")
    private List<String> managers = List.of();

    @Option(
            names = "--servers",
            description = "Also ask each of the manager's servers itself, for its leases and its headroom.")
    private boolean detailed;

    @Parameters(
            paramLabel = "HOST:PORT",
            arity = "0..*",
            description = "Memory servers, which are asked directly, without a manager.")
    private List<String> servers = List.of();

    @Option(names = "--once", description = "Print once, and end.")
    private boolean once;

    @Option(names = "--json", description = "Print JSON, one line each time.")
    private boolean json;

    @Spec
    private CommandSpec spec;

    private @Nullable ManagerClient manager;
    private final ServersView view = new ServersView();
    /** Whether a server did not answer when it was last asked. */
    private boolean missing;

    @Override
    public Integer call() throws InterruptedException {
        if (managers.isEmpty() == servers.isEmpty() || detailed && managers.isEmpty()) {
            throw new ParameterException(
                    spec.commandLine(),
                    "name either managers (--manager HOST:PORT, and --servers for their servers' own view) or memory "
                            + "servers (HOST:PORT ...)");
        }
        PrintWriter out = spec.commandLine().getOut();
        try {
            if (once) {
                out.print(text());
                out.flush();
                return missing ? 1 : 0;
            }
            // A mistyped address ends the command; a manager or a server that stops later does not.
            if (servers.isEmpty()) {
                connected();
                look(out);
            } else {
                print(out, text(requireServer()));
            }
            Termination termination = Termination.watch(false);
            while (!termination.await(PERIOD_MILLIS) && !out.checkError()) {
                look(out);
            }
            return 0;
        } finally {
            disconnect();
        }
    }

    /**
     * Asks the named memory servers.
     *
     * @throws ControlException UNAVAILABLE if none of them answers, with the reason for each
     */
    private List<ServersView.ObservedServer> requireServer() throws InterruptedException {
        List<ServersView.ObservedServer> seen = ask(servers);
        if (seen.stream().allMatch(one -> one.status() == null)) {
            throw new ControlException(
                    Code.UNAVAILABLE,
                    "no memory server answers: "
                            + seen.stream()
                                    .map(ServersView.ObservedServer::trouble)
                                    .collect(Collectors.joining("; and ")));
        }
        return seen;
    }

    private void look(PrintWriter out) throws InterruptedException {
        try {
            print(out, text());
        } catch (ControlException e) {
            if (e.code() != Code.UNAVAILABLE && e.code() != Code.DEADLINE_EXCEEDED) {
                throw e;
            }
            disconnect();
            spec.commandLine().getErr().println("farheap: " + e.getMessage());
        }
    }

    private void print(PrintWriter out, String text) {
        out.print(json ? text : CLEAR + text);
    }

    private ManagerClient connected() {
        if (manager == null) {
            manager = ManagerClient.connectFirst(managers);
        }
        return manager;
    }

    private void disconnect() {
        view.close();
        if (manager != null) {
            manager.close();
            manager = null;
        }
    }

    private String text() throws InterruptedException {
        if (managers.isEmpty()) {
            return text(ask(servers));
        }
        Overview overview = Overview.of(connected());
        if (!detailed) {
            return json ? overview.json() + "\n" : overview.table();
        }
        List<ServersView.ObservedServer> seen =
                ask(overview.servers().stream().map(ServerReport::address).toList());
        if (!json) {
            return overview.table() + "\n" + ServersText.table(seen);
        }
        JsonObject all = overview.json();
        all.add("described", ServersText.json(seen));
        return all + "\n";
    }

    private String text(List<ServersView.ObservedServer> seen) {
        if (!json) {
            return ServersText.table(seen);
        }
        JsonObject all = new JsonObject();
        all.add("servers", ServersText.json(seen));
        return all + "\n";
    }

    private List<ServersView.ObservedServer> ask(List<String> addresses) throws InterruptedException {
        List<ServersView.ObservedServer> seen = view.look(addresses);
        missing = seen.stream().anyMatch(one -> one.status() == null);
        return seen;
    }
}
