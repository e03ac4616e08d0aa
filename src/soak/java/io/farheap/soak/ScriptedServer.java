package io.farheap.soak;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.farheap.command.Termination;
import io.farheap.server.MemoryServer;
import io.farheap.server.contract.CallInterleaving;
import io.farheap.server.contract.Headroom;
import io.farheap.server.contract.MachineMemory;
import io.farheap.server.contract.ServedCode;
import io.farheap.server.contract.ServerLimits;
import io.farheap.server.contract.ServerOptions;
import io.farheap.thread.idle.Idle;
import io.farheap.verbs.PortOptions;
import io.farheap.verbs.VerbsLibrary;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * A memory server in a process of its own that is told, a line each, that its machine has no memory left, that it has
 * again, and that its memory is to rot. It answers each with {@value #DONE}, and ends with its standard input.
 */
public final class ScriptedServer {

    /** All that it has is wanted back. */
    static final String PRESS = "press";
    /** There is memory again. */
    static final String EASE = "ease";
    /** So many random bytes of its memory become others: the number and a seed follow. */
    static final String ROT = "rot ";

    static final String DONE = "done";

    private static final long PERIOD_NANOS = 200_000_000L;
    private static final int PERCENT = 25;
    private static final MachineMemory MUCH = new MachineMemory(1L << 40, 1L << 40);
    private static final MachineMemory NONE = new MachineMemory(1L << 40, 0);

    private final long memoryBytes;
    private volatile MachineMemory machine = MUCH;

    private ScriptedServer(long memoryBytes) {
        this.memoryBytes = memoryBytes;
    }

    /** What {@link #main} is to be called with. */
    static List<String> arguments(long memoryBytes, long regionBytes, long leaseNanos) {
        return List.of(
                ScriptedServer.class.getName(),
                Long.toString(memoryBytes),
                Long.toString(regionBytes),
                Long.toString(leaseNanos));
    }

    /** With {@link #arguments} behind the class. */
    public static void main(String[] arguments) throws InterruptedException {
        VerbsLibrary.choose(VerbsLibrary.AUTO);
        ScriptedServer told = new ScriptedServer(Long.parseLong(arguments[0]));
        told.serve(Long.parseLong(arguments[1]), Long.parseLong(arguments[2]));
    }

    private void serve(long regionBytes, long leaseNanos) throws InterruptedException {
        ServerOptions options = new ServerOptions(
                memoryBytes,
                regionBytes,
                leaseNanos,
                PortOptions.DEFAULT,
                "chaos",
                1,
                false,
                Idle.PARK,
                ServerLimits.DEFAULT,
                "",
                ServedCode.OFF,
                CallInterleaving.MEASURED,
                new Headroom(PERCENT, PERIOD_NANOS, 2, () -> machine));
        Termination termination = Termination.watch(false);
        try (MemoryServer server = MemoryServer.start(options, "127.0.0.1:0")) {
            System.out.println("chaos server listening on " + server.address());
            Thread.ofPlatform().daemon().name("standard input").start(() -> listen(termination));
            termination.await();
        }
    }

    private void listen(Termination termination) {
        try (BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                obey(line);
                System.out.println(DONE);
            }
        } catch (IOException | RuntimeException e) {
            System.err.println("a chaos server: " + e);
        }
        termination.stop();
    }

    private void obey(String line) throws IOException {
        switch (line) {
            case PRESS -> machine = NONE;
            case EASE -> machine = MUCH;
            default -> {
                String[] rot = line.substring(ROT.length()).split(" ");
                rot(Integer.parseInt(rot[0]), new SplittableRandom(Long.parseLong(rot[1])));
            }
        }
    }

    /** As the memory's own fault: no client and no device has anything to do with it. */
    private void rot(int bytes, SplittableRandom random) throws IOException {
        MemorySegment memory = memory();
        for (int i = 0; i < bytes; i++) {
            long at = random.nextLong(memoryBytes);
            memory.set(JAVA_BYTE, at, (byte) (memory.get(JAVA_BYTE, at) ^ (1 + random.nextInt(255))));
        }
    }

    /** The mapping of a memory file that is as large as what is served. */
    private MemorySegment memory() throws IOException {
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            long address = maps.filter(line -> line.contains("memfd:farheap"))
                    .map(line -> line.substring(0, line.indexOf(' ')).split("-"))
                    .filter(range ->
                            Long.parseUnsignedLong(range[1], 16) - Long.parseUnsignedLong(range[0], 16) == memoryBytes)
                    .mapToLong(range -> Long.parseUnsignedLong(range[0], 16))
                    .findFirst()
                    .orElseThrow(() -> new IOException("no mapping of " + memoryBytes + " bytes"));
            return MemorySegment.ofAddress(address).reinterpret(memoryBytes);
        }
    }
}
