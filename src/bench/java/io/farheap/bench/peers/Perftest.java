package io.farheap.bench.peers;

import io.farheap.lifetime.Closeables;
import io.farheap.memory.SharedMemory;
import io.farheap.verbs.Devices;
import io.farheap.verbs.VerbsLibrary;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * perftest's programs in C on the same device, a baseline that others wrote: {@code ib_read_lat} and
 * {@code ib_write_lat} with one operation under way, or {@code ib_read_bw} with many, of which the time of one is the
 * inverse of its rate. The time of a write is half of a ping-pong, in which each side waits for the other's store.
 * Times are in steps of 10 ns. Each turn is a run of two processes, both of which spin.
 *
 * <p>perftest allocates private memory, which softverbs reads and writes by a system call for each operation. If it is
 * to have memory as Farheap has, each process maps a sealed memfd of this one: then an operation is a plain copy.
 */
final class Perftest implements PeerRunner {

    /** The READs of {@code ib_read_bw} that are under way. */
    private static final int DEPTH = 128;

    private static final String PACKAGE = "perftest";
    private static final int LATENCY_ITERATIONS = 20_000;
    private static final int RATE_ITERATIONS = 100_000;
    private static final int SECONDS = 60;
    /** More than perftest registers for values of up to a MiB. */
    private static final long MEMORY_BYTES = 4 << 20;

    private static final List<String> NAMES = List.of("farheap-perftest-server", "farheap-perftest-client");
    private static final int SERVER = 0;
    private static final int CLIENT = 1;
    /** A port may be taken by another process, and on a busy machine a program may not find the clock's rate. */
    private static final int TRIES = 5;

    private static final double NANOS_PER_MICRO = 1e3;
    private static final String NUMBER = "[ \\t]+([\\d.]+)";
    /** Bytes, iterations, least, most, typical, average, deviation, 99 %, 99.9 %. */
    private static final Pattern LATENCY = Pattern.compile("(?m)^[ \\t]*\\d+" + NUMBER.repeat(8) + "[ \\t]*$");

    private static final int TYPICAL = 4;
    private static final int PERCENTILE_99 = 7;
    /** Bytes, iterations, peak, average, millions of messages a second. */
    private static final Pattern RATE = Pattern.compile("(?m)^[ \\t]*\\d+" + NUMBER.repeat(4) + "[ \\t]*$");

    private static final int MESSAGES = 4;

    private final Path directory;
    private final boolean rate;
    /** Of the server and of the client; empty if they use memory of their own. */
    private final List<SharedMemory> memories = new ArrayList<>();

    private Perftest(Path directory, boolean rate, boolean shared) {
        this.directory = directory;
        this.rate = rate;
        for (String name : shared ? NAMES : List.<String>of()) {
            memories.add(SharedMemory.allocate(memory(name), MEMORY_BYTES));
        }
    }

    private String memory(String name) {
        return name + (rate ? "-rate" : "-latency");
    }

    /**
     * @param shared whether it has memory that peers can map, as Farheap has, and not private memory
     * @throws PeerAbsentException if it is not installed
     */
    static Perftest latency(Path directory, boolean shared) throws PeerAbsentException {
        ChildProcess.program(program(PeerOperation.GET, false), PACKAGE);
        return new Perftest(directory, false, shared);
    }

    /** The same with many operations under way. */
    static Perftest rate(Path directory, boolean shared) throws PeerAbsentException {
        ChildProcess.program(program(PeerOperation.GET, true), PACKAGE);
        return new Perftest(directory, true, shared);
    }

    private static String program(PeerOperation operation, boolean rate) {
        return rate ? "ib_read_bw" : operation == PeerOperation.GET ? "ib_read_lat" : "ib_write_lat";
    }

    @Override
    public PeerMeans means() {
        int cores = PeerMeans.CLIENT_AND_SERVER;
        return rate ? new PeerMeans(false, cores, DEPTH, 1, 1) : PeerMeans.single(false, cores);
    }

    @Override
    public boolean onDevice() {
        return true;
    }

    @Override
    public PeerTurn turn(PeerOperation operation, int bytes) throws Exception {
        if (rate && operation != PeerOperation.GET) {
            throw new PeerAbsentException("ib_read_bw reads alone");
        }
        String printed = "";
        for (int i = 0; i < TRIES; i++) {
            printed = run(ChildProcess.program(program(operation, rate), PACKAGE), bytes);
            Matcher result = (rate ? RATE : LATENCY).matcher(printed);
            if (result.find()) {
                return turn(result);
            }
        }
        throw new PeerAbsentException(program(operation, rate) + " printed no result: "
                + printed.strip().lines().reduce("", (earlier, later) -> later));
    }

    private PeerTurn turn(Matcher result) {
        if (rate) {
            return new PeerTurn(NANOS_PER_MICRO / Double.parseDouble(result.group(MESSAGES)), Double.NaN);
        }
        return new PeerTurn(
                Double.parseDouble(result.group(TYPICAL)) * NANOS_PER_MICRO,
                Double.parseDouble(result.group(PERCENTILE_99)) * NANOS_PER_MICRO);
    }

    /** Returns a turn of what the program printed; for tests. */
    static PeerTurn parse(String printed, boolean rate) throws PeerAbsentException {
        Matcher result = (rate ? RATE : LATENCY).matcher(printed);
        if (!result.find()) {
            throw new PeerAbsentException("perftest printed no result");
        }
        return new Perftest(Path.of(""), rate, false).turn(result);
    }

    /** Returns what the client printed. */
    private String run(String program, int bytes) throws Exception {
        int port = ChildProcess.freePort();
        List<String> command = command(program, port, bytes, SERVER);
        Path log = directory.resolve("perftest.log");
        try (ChildProcess server = ChildProcess.start(directory.resolve("perftest-server.log"), command)) {
            server.await(() -> ChildProcess.listens(port));
            List<String> other = command(program, port, bytes, CLIENT);
            other.add("127.0.0.1");
            Process client = new ProcessBuilder(other)
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            try {
                if (!client.waitFor(SECONDS, TimeUnit.SECONDS)) {
                    throw new IOException(program + " has not finished within " + SECONDS + " s");
                }
            } finally {
                client.destroyForcibly();
            }
        }
        return Files.readString(log);
    }

    private List<String> command(String program, int port, int bytes, int side)
            throws PeerAbsentException, IOException {
        List<String> command = new ArrayList<>();
        if (!memories.isEmpty()) {
            // The descriptor stays open as long as the program runs: peers map the memory through it.
            command.addAll(List.of("/bin/sh", "-c", "exec 3<>\"$0\"; exec \"$@\"", memfd(memory(NAMES.get(side)))));
        }
        command.add("/usr/bin/env");
        if (Devices.library() == VerbsLibrary.SOFT) {
            command.add("LD_PRELOAD=" + preloaded(VerbsLibrary.softLibrary().getPath()));
        }
        command.addAll(List.of(
                program,
                "-F",
                "-p",
                Integer.toString(port),
                "-s",
                Integer.toString(bytes),
                "-n",
                Integer.toString(rate ? RATE_ITERATIONS : LATENCY_ITERATIONS)));
        if (rate) {
            command.addAll(List.of("-t", Integer.toString(DEPTH)));
        }
        if (!memories.isEmpty()) {
            command.add("--mmap=/proc/self/fd/3");
        }
        return command;
    }

    /** Returns the path by which another process opens a memfd of this one. */
    private static String memfd(String name) throws IOException {
        Path descriptors =
                Path.of("/proc", Long.toString(ProcessHandle.current().pid()), "fd");
        try (DirectoryStream<Path> all = Files.newDirectoryStream(descriptors)) {
            return memfd(all, name);
        }
    }

    /** @param descriptors links, which other threads may close meanwhile */
    static String memfd(Iterable<Path> descriptors, String name) throws IOException {
        for (Path descriptor : descriptors) {
            try {
                if (Files.readSymbolicLink(descriptor).toString().startsWith("/memfd:" + name + " ")) {
                    return descriptor.toString();
                }
            } catch (NoSuchFileException e) {
                // Closed since it was listed.
            }
        }
        throw new IOException("this process has no memory of the name " + name);
    }

    /** LD_PRELOAD separates by spaces and colons, and expands dollar signs. */
    private static String preloaded(String library) throws PeerAbsentException {
        if (library.matches(".*[\\s:$].*")) {
            throw new PeerAbsentException(String.format(
                    Locale.ROOT, "%s cannot be preloaded: its path has a space, a colon or a dollar sign", library));
        }
        return library;
    }

    @Override
    public void close() {
        Closeables.all(memories);
    }
}
