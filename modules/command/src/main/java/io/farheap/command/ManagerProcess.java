package io.farheap.command;

import io.farheap.verbs.VerbsLibrary;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A cache manager in a process of its own, on this host. It ends with its parent, however that ends: it watches its
 * standard input.
 */
public final class ManagerProcess implements AutoCloseable {

    private final ChildJvm jvm;
    private final String address;

    private ManagerProcess(ChildJvm jvm, String address) {
        this.jvm = jvm;
        this.address = address;
    }

    /**
     * Starts a manager, and returns when it listens.
     *
     * @param listen HOST:PORT; port 0 takes a free one
     * @param options further ones of the {@code manager} command, at least the one that says where it keeps its state
     */
    public static ManagerProcess start(VerbsLibrary library, String listen, String... options) {
        List<String> command =
                new ArrayList<>(List.of("io.farheap.cli.Main", "manager", "--listen", listen, "--until-stdin-closes"));
        command.addAll(List.of(options));
        try {
            ChildJvm jvm = ChildJvm.start(library, Map.of(), List.of("-Xmx128m"), command);
            try {
                return new ManagerProcess(jvm, jvm.awaitAddress("the cache manager"));
            } catch (Throwable e) {
                jvm.kill();
                throw e;
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start a cache manager", e);
        }
    }

    /** Returns the HOST:PORT at which clients and servers reach it. */
    public String address() {
        return address;
    }

    public long pid() {
        return jvm.pid();
    }

    /** SIGSTOP: nothing of it runs until it is {@linkplain #resume resumed} or closed. */
    public void suspend() {
        jvm.suspend();
    }

    /** Sends SIGCONT, if it is suspended. */
    public void resume() {
        jvm.resume();
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
}
