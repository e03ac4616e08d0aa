package io.farheap.manager.service.commands;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.ServerStatus;
import io.farheap.control.grpc.ControlClient;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** Asks memory servers directly which regions they have and which clients hold them. One thread. */
final class ServersView implements AutoCloseable {

    /**
     * One server.
     *
     * @param status null if it did not answer
     * @param trouble why it did not answer, and the remedy; empty if it did
     */
    record ObservedServer(String address, @Nullable ServerStatus status, String trouble) {}

    private final Map<String, ControlClient> clients = new ConcurrentHashMap<>();

    /**
     * Asks all of them at once, so that one that does not answer hardly delays the others. An address that is new takes
     * two calls, to connect and to ask, each with its own deadline.
     *
     * @throws ControlException INVALID_ARGUMENT if an address is invalid
     */
    List<ObservedServer> look(List<String> addresses) throws InterruptedException {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<ObservedServer>> asked = threads.invokeAll(addresses.stream()
                    .map(address -> (Callable<ObservedServer>) () -> ask(address))
                    .toList());
            return asked.stream().map(ServersView::seen).toList();
        }
    }

    private static ObservedServer seen(Future<ObservedServer> asked) {
        try {
            return asked.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ControlException(Code.CANCELLED, "interrupted", e);
        }
    }

    private ObservedServer ask(String address) {
        try {
            ControlClient known = clients.get(address);
            if (known == null) {
                // Not in computeIfAbsent: a silent server would delay others whose addresses share its bin.
                ControlClient made = ControlClient.connect(address);
                ControlClient other = clients.putIfAbsent(address, made);
                if (other != null) {
                    // The address was named twice, and the other thread uses its client.
                    made.close();
                }
                known = other == null ? made : other;
            }
            return new ObservedServer(address, known.describe(), "");
        } catch (ControlException e) {
            if (e.code() == Code.INVALID_ARGUMENT) {
                throw e;
            }
            // Another server may be at this address at the next look, so the connection is not kept.
            ControlClient client = clients.remove(address);
            if (client != null) {
                client.close();
            }
            return new ObservedServer(address, null, e.getMessage() + remedy(e.code()));
        }
    }

    /** Returns the remedy that the message of a connection that cannot be made, or of a silent server, lacks. */
    private static String remedy(Code code) {
        return code == Code.UNAVAILABLE || code == Code.DEADLINE_EXCEEDED
                ? "; look whether the server runs, and name the HOST:PORT that 'farheap server' prints"
                : "";
    }

    @Override
    public void close() {
        clients.values().forEach(ControlClient::close);
        clients.clear();
    }
}
