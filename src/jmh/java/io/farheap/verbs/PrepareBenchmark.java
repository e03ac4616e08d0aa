package io.farheap.verbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Filling in prebuilt work requests, and the payload of a small one. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(3)
public class PrepareBenchmark {

    private static final int COUNT = 16;
    private static final int PAYLOAD_BYTES = 64;
    private static final int KEY = 7;

    private SendRequests requests;
    private final MemorySegment payload = Arena.ofAuto().allocate(PAYLOAD_BYTES, 64);
    private long address = 1 << 20;

    @Setup
    public void open() {
        VerbsLibrary.choose(VerbsLibrary.AUTO);
        VerbsLibrary _ = Devices.library();
        requests = new SendRequests(COUNT);
    }

    @TearDown
    public void close() {
        requests.close();
    }

    @Benchmark
    public SendRequests one() {
        address += 64;
        requests.prepare(0, SendRequests.WRITE, SendRequests.SIGNALED, address, PAYLOAD_BYTES, KEY, address, KEY);
        return requests;
    }

    @Benchmark
    public SendRequests oneAtomic() {
        address += 8;
        requests.prepareAtomic(
                0, SendRequests.COMPARE_AND_SWAP, SendRequests.SIGNALED, address, KEY, address, KEY, address, address);
        return requests;
    }

    @Benchmark
    public SendRequests oneWithPayload() {
        for (int i = 0; i < PAYLOAD_BYTES; i += Long.BYTES) {
            payload.set(JAVA_LONG, i, address + i);
        }
        return one();
    }

    @Benchmark
    @OperationsPerInvocation(COUNT)
    public SendRequests listOf16() {
        for (int i = 0; i < COUNT; i++) {
            address += 64;
            requests.prepare(
                    i,
                    SendRequests.WRITE,
                    i + 1 < COUNT ? 0 : SendRequests.SIGNALED,
                    address,
                    PAYLOAD_BYTES,
                    KEY,
                    address,
                    KEY);
            if (i > 0) {
                requests.link(i - 1, i);
            }
        }
        return requests;
    }
}
