package io.farheap.command;

import io.farheap.time.TimeLimit;
import io.farheap.verbs.VerbsLibrary;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * A memory server in a process of its own, on this host. It ends with its parent, however that ends: it watches its
 * standard input.
 */
public final class ServerProcess implements AutoCloseable {

    private final ChildJvm jvm;
    private final String address;

    private ServerProcess(ChildJvm jvm, String address) {
        this.jvm = jvm;
        this.address = address;
    }

    /** Starts a server on a free port of the loopback interface, and returns when it listens. */
    public static ServerProcess start(VerbsLibrary library, long memoryBytes, long regionBytes) {
        return start(library, "", memoryBytes, regionBytes);
    }

    /** @param device the server's RDMA device; empty for the first that serves */
    public static ServerProcess start(VerbsLibrary library, String device, long memoryBytes, long regionBytes) {
        return start(library, device, memoryBytes, regionBytes, Map.of());
    }

    /**
     * Starts a server.
     *
     * @param environment variables that the server has beside this process's
     * @param options further ones of the {@code server} command; a {@code --lease} among them replaces the default
     */
    public static ServerProcess start(
            VerbsLibrary library,
            String device,
            long memoryBytes,
            long regionBytes,
            Map<String, String> environment,
            String... options) {
        return start(library, device, memoryBytes, regionBytes, environment, List.of(), options);
    }

    /**
     * Starts a server.
     *
     * @param environment variables that the server has beside this process's
     * @param flags of its JVM
     * @param options further ones of the {@code server} command; a {@code --lease} among them replaces the default
     */
    public static ServerProcess start(
            VerbsLibrary library,
            String device,
            long memoryBytes,
            long regionBytes,
            Map<String, String> environment,
            List<String> flags,
            String... options) {
        List<String> command = command(memoryBytes, regionBytes, device);
        List<String> more = List.of(options);
        if (!more.contains("--lease")) {
            command.addAll(List.of("--lease", TimeLimit.of(3) + "s"));
        }
        command.addAll(more);
        try {
            // A server needs no more than a small heap.
            List<String> all = new ArrayList<>(List.of("-Xmx64m"));
            all.addAll(flags);
            ChildJvm jvm = ChildJvm.start(library, environment, all, command);
            try {
                return new ServerProcess(jvm, jvm.awaitAddress("the memory server"));
            } catch (Throwable e) {
                jvm.kill();
                throw e;
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start a memory server", e);
        }
    }

    /** Returns the HOST:PORT of its control plane. */
    public String address() {
        return address;
    }

    public long pid() {
        return jvm.pid();
    }

    /**
     * SIGSTOP: when this returns, nothing of it runs until it is {@linkplain #resume resumed} or closed, or its parent
     * ends.
     */
    public void suspend() {
        jvm.suspend();
    }

    /** Sends SIGCONT, if it is suspended. */
    public void resume() {
        jvm.resume();
    }

    /**
     * Sends SIGTERM, and does not wait: a server that has a manager continues to run until its caches have left, or its
     * notice has ended.
     */
    public void leave() {
        jvm.terminate();
    }

    /** Waits, and returns whether it has ended by itself within so many seconds. */
    public boolean await(long seconds) {
        return jvm.await(seconds);
    }

    /** Completes with its exit value when it has ended. */
    public CompletableFuture<Integer> onExit() {
        return jvm.onExit();
    }

    /** Sends SIGKILL. */
    public void kill() {
        jvm.kill();
    }

    /** Sends SIGTERM, and SIGKILL if that does not help. */
    @Override
    public void close() {
        jvm.close();
    }

    private static List<String> command(long memoryBytes, long regionBytes, String device) {
        return new ArrayList<>(List.of(
                "io.farheap.cli.Main",
                "server",
                "--memory",
                Long.toString(memoryBytes),
                "--region",
                Long.toString(regionBytes),
                "--listen",
                "127.0.0.1:0",
                "--device",
                device,
                "--until-stdin-closes"));
    }
}
