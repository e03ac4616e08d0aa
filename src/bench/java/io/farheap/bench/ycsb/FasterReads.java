package io.farheap.bench.ycsb;

import io.farheap.bench.peers.PeerAbsentException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * FASTER in C++ with all records in memory, run by {@code src/bench/native/faster_turns.cc}, which is compiled against
 * the user's copy of its sources. It runs in a process of its own, which ends with its input, and so with this process.
 */
final class FasterReads implements ExternalContestant {

    private static final String PROGRAM = "faster_turns";
    private static final List<String> SOURCES =
            List.of("core/address.cc", "core/lss_allocator.cc", "core/thread.cc", "environment/file_linux.cc");
    private static final List<String> LIBRARIES = List.of("-lpthread", "-luuid", "-ltbb", "-laio");
    private static final int STOP_SECONDS = 60;

    private final DataSet data;
    private final Path program;
    private @Nullable Process process;
    private @Nullable PrintWriter asks;
    private @Nullable BufferedReader answers;

    /**
     * @param faster the folder {@code cc} of a checkout of FASTER
     * @param directory for the program
     * @throws PeerAbsentException if it cannot be compiled, or values have more than 8 bytes
     */
    FasterReads(DataSet data, @Nullable Path faster, Path directory) throws PeerAbsentException, IOException {
        this.data = data;
        this.program = directory.resolve(PROGRAM);
        if (faster == null) {
            throw new PeerAbsentException(
                    "its sources are not named; add --faster DIR, the folder cc of a checkout of FASTER");
        }
        if (data.valueBytes() != Long.BYTES) {
            throw new PeerAbsentException("the program for it has values of 8 bytes");
        }
        compile(faster.resolve("src"), directory);
    }

    private void compile(Path sources, Path directory) throws PeerAbsentException, IOException {
        Path main = directory.resolve(PROGRAM + ".cc");
        try (InputStream own = FasterReads.class.getResourceAsStream(PROGRAM + ".cc")) {
            Files.copy(Objects.requireNonNull(own, "the jar has no " + PROGRAM + ".cc"), main);
        }
        List<String> command = new ArrayList<>(
                List.of("c++", "-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-w", "-I", sources.toString()));
        command.add(main.toString());
        SOURCES.forEach(source -> command.add(sources.resolve(source).toString()));
        command.addAll(List.of("-o", program.toString()));
        command.addAll(LIBRARIES);
        Path log = directory.resolve("compile.log");
        Process compiler;
        try {
            compiler = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
        } catch (IOException e) {
            throw new PeerAbsentException("there is no C++ compiler (Debian: apt-get install g++): " + e.getMessage());
        }
        try {
            if (compiler.waitFor() != 0) {
                throw new PeerAbsentException("it cannot be compiled (Debian: apt-get install g++ libaio-dev libtbb-dev"
                        + " uuid-dev): " + firstError(log));
            }
        } catch (InterruptedException e) {
            compiler.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    private static String firstError(Path log) throws IOException {
        return Files.readAllLines(log).stream()
                .filter(line -> line.contains("error"))
                .findFirst()
                .orElse("see " + log);
    }

    @Override
    public void load() throws IOException {
        ProcessBuilder builder = new ProcessBuilder(program.toString(), Long.toString(data.records()))
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        // Huge pages, as our own tables use them.
        builder.environment().put("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");
        Process started = builder.start();
        process = started;
        asks = new PrintWriter(started.outputWriter(StandardCharsets.US_ASCII));
        answers = started.inputReader(StandardCharsets.US_ASCII);
        if (!"ready".equals(answers.readLine())) {
            throw new IOException("FASTER did not store the records");
        }
    }

    @Override
    public boolean takes(YcsbWorkload workload, KeyDistribution distribution) {
        return workload.readsOnly() && distribution == KeyDistribution.UNIFORM;
    }

    @Override
    public ContestTurn turn(int threads, long nanos) throws IOException {
        PrintWriter to = Objects.requireNonNull(asks);
        to.println(threads + " " + nanos);
        to.flush();
        String answer = Objects.requireNonNull(answers).readLine();
        if (answer == null) {
            throw new IOException("FASTER's process has ended");
        }
        return turn(answer);
    }

    /** Parses the program's answer. */
    static ContestTurn turn(String answer) throws IOException {
        String[] words = answer.split(" ");
        ClientCounts tally = new ClientCounts();
        tally.ended = Long.parseLong(words[0]);
        if (!words[2].equals("0")) {
            throw new IOException(words[2] + " of " + words[0] + " reads of FASTER found a value never stored");
        }
        for (int i = 3; i < words.length; i++) {
            int colon = words[i].indexOf(':');
            tally.took(Long.parseLong(words[i].substring(0, colon)), Long.parseLong(words[i].substring(colon + 1)));
        }
        return new ContestTurn(tally.ended * 1e9 / Long.parseLong(words[1]), tally, 0);
    }

    /** Its index has half as many buckets of 64 bytes as there are keys, or somewhat more: a power of two. */
    private long indexBytes() {
        long buckets = Math.max(1, Long.highestOneBit(Math.max(1, data.records() / 2 - 1)) * 2);
        return buckets * 64;
    }

    @Override
    public Facts facts() {
        return Facts.inMemory(indexBytes());
    }

    /** Its records are as long as ours: header, key and value. */
    @Override
    public Means means() {
        return Means.single(data.logBytes() + indexBytes());
    }

    @Override
    public void close() throws IOException {
        Process started = process;
        if (started == null) {
            return;
        }
        Objects.requireNonNull(asks).close();
        Objects.requireNonNull(answers).close();
        try {
            if (!started.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                started.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            started.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
