package io.farheap.bench.peers;

import io.farheap.bench.machine.ScratchDirectory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.function.Consumer;

/** All peers, open or absent with a reason. */
final class Peers implements AutoCloseable {

    static final String FARHEAP = "Farheap";
    static final String REDIS = "Redis (Lettuce)";
    static final String MEMCACHED = "memcached (XMemcached)";
    static final String JUCX = "UCX (jucx)";

    private interface Opening {
        PeerRunner open() throws Exception;
    }

    private final ScratchDirectory scratch;
    private final Path directory;
    private final long turnNanos;
    private final Map<String, PeerRunner> open = new LinkedHashMap<>();
    private final Map<String, String> absent = new LinkedHashMap<>();

    private Peers(Path parent, long turnNanos) throws IOException {
        this.scratch = new ScratchDirectory(parent, "farheap-peers");
        this.directory = scratch.path();
        this.turnNanos = turnNanos;
    }

    /**
     * @param parent of the directory that this run uses, on a local disk
     * @param server a memory server for Farheap
     */
    static Peers all(Path parent, String server, int maxBytes, long turnNanos) throws IOException {
        return new Peers(parent, turnNanos).with(peers -> peers.addAll(server, maxBytes));
    }

    /** Opens the peers that keep objects by key, as a map does, after one that is open. */
    static Peers caches(Path parent, long turnNanos, String name, Peer beside) throws IOException {
        return new Peers(parent, turnNanos).with(peers -> {
            peers.open.put(name, peers.timed(name, beside));
            peers.addCaches();
        });
    }

    private Peers with(Consumer<Peers> adding) {
        try {
            adding.accept(this);
            return this;
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    private void addAll(String server, int maxBytes) {
        add("local memory", () -> timed("local memory", new LocalPeer(maxBytes)));
        add(FARHEAP, () -> timed(FARHEAP, new FarheapPeer(server, maxBytes)));
        add("loop (C)", () -> timed("loop (C)", new LoopPeer(server, maxBytes)));
        add("perftest, shared memory (C)", () -> Perftest.latency(directory, true));
        add("perftest, shared memory, 128 in flight (C)", () -> Perftest.rate(directory, true));
        add("perftest (C)", () -> Perftest.latency(directory, false));
        add("perftest, 128 in flight (C)", () -> Perftest.rate(directory, false));
        add("UCX (C)", () -> UcxPerftest.open(directory));
        add("UCX, flushed (C)", () -> UcxFlush.open(directory, turnNanos));
        addProvided(JUCX);
        add("file", () -> timed("file", FilePeer.open(directory, false, maxBytes)));
        add("file, direct", () -> timed("file, direct", FilePeer.open(directory, true, maxBytes)));
        add("Unix socket", () -> timed("Unix socket", EchoPeer.open(directory)));
        addCaches();
    }

    private void addCaches() {
        addProvided(REDIS);
        addProvided(MEMCACHED);
    }

    /** By name, in the order of a table. */
    Map<String, PeerRunner> open() {
        return open;
    }

    /** Reasons by name. */
    Map<String, String> absent() {
        return absent;
    }

    private PeerRunner timed(String name, Peer peer) {
        return new TimedPeer(name, peer, turnNanos);
    }

    private void addProvided(String name) {
        for (PeerProvider provider : ServiceLoader.load(PeerProvider.class)) {
            if (provider.name().equals(name)) {
                add(name, () -> timed(name, provider.open(directory)));
                return;
            }
        }
        absent.put(
                name,
                "its client library is not on the class path; ./farheap bench peers, and bench kv --peers, fetch it");
    }

    private void add(String name, Opening opening) {
        try {
            open.put(name, opening.open());
        } catch (PeerAbsentException e) {
            absent.put(name, e.getMessage());
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("cannot start " + name, e);
        }
    }

    @Override
    public void close() {
        List<PeerRunner> all = new ArrayList<>(open.values());
        Exception failed = null;
        for (PeerRunner contestant : all.reversed()) {
            try {
                contestant.close();
            } catch (Exception e) {
                failed = e;
            }
        }
        scratch.close();
        if (failed != null) {
            throw new IllegalStateException("cannot stop a peer", failed);
        }
    }
}
