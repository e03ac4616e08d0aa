package io.farheap.bench.peers;

import io.farheap.bench.child.TetheredProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * UCX in C over shared memory, by {@code src/bench/native/ucx_flush.c}: a put and a flush of its endpoint, or a get,
 * one after another, each timed by itself. A put is done as far as Farheap's is: its value is in the other process's
 * memory.
 */
final class UcxFlush implements PeerRunner {

    private static final String PROGRAM = "ucx_flush";
    private static final String PACKAGES = "gcc libc6-dev libucx-dev";
    private static final String TRANSPORTS = "posix,self";
    private static final int WORDS = 4;
    private static final int WRONG = 3;
    private static final long WARM_UP_NANOS = 200_000_000;

    private final long turnNanos;
    private final Process process;
    private final PrintWriter asks;
    private final BufferedReader answers;

    private UcxFlush(Process process, long turnNanos) {
        this.process = process;
        this.turnNanos = turnNanos;
        this.asks = new PrintWriter(process.outputWriter(StandardCharsets.US_ASCII));
        this.answers = process.inputReader(StandardCharsets.US_ASCII);
    }

    /** @throws PeerAbsentException if it cannot be compiled or does not start */
    static UcxFlush open(Path directory, long turnNanos) throws Exception {
        Path program = CompiledProgram.compile(PROGRAM, directory, List.of("ucp", "ucs"), PACKAGES);
        Path log = directory.resolve("ucx_flush.err");
        ProcessBuilder builder = new ProcessBuilder(program.toString()).redirectError(log.toFile());
        builder.environment().put("UCX_TLS", TRANSPORTS);
        UcxFlush peer = new UcxFlush(builder.start(), turnNanos);
        try {
            if (!"ready".equals(peer.answers.readLine())) {
                throw new PeerAbsentException(
                        "UCX cannot be used: " + Files.readString(log).strip());
            }
            return peer;
        } catch (Throwable e) {
            peer.close();
            throw e;
        }
    }

    @Override
    public void warmUp(int bytes) throws IOException {
        run(PeerOperation.PUT, bytes, WARM_UP_NANOS);
        run(PeerOperation.GET, bytes, WARM_UP_NANOS);
    }

    @Override
    public PeerTurn turn(PeerOperation operation, int bytes) throws IOException {
        return run(operation, bytes, turnNanos);
    }

    private PeerTurn run(PeerOperation operation, int bytes, long nanos) throws IOException {
        asks.println(operation + " " + bytes + " " + nanos);
        asks.flush();
        String answer = answers.readLine();
        if (answer == null) {
            throw new IOException("the program has ended");
        }
        return parse(answer);
    }

    /** Parses the program's answer. */
    static PeerTurn parse(String answer) throws IOException {
        String[] words = answer.split(" ");
        if (words.length != WORDS) {
            throw new IOException("the program answered " + answer);
        }
        if (!words[WRONG].equals("0")) {
            throw new IOException("UCX does not return what was put: its figures would mean nothing");
        }
        return new PeerTurn(Double.parseDouble(words[0]), Double.parseDouble(words[1]));
    }

    /** It ends with its input. */
    @Override
    public void close() throws IOException {
        asks.close();
        answers.close();
        TetheredProcess.end(process);
    }
}
