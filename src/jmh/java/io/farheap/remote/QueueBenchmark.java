package io.farheap.remote;

import io.farheap.command.ServerProcess;
import io.farheap.remote.contract.CompletionHandler;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.verbs.Devices;
import io.farheap.verbs.VerbsLibrary;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A queue's operations on another process's memory, hot; ns per operation. Beside it: {@code PostAndPollBenchmark},
 * bare verbs.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(3)
public class QueueBenchmark {

    private static final int DEPTH = 16;
    private static final long BYTES = 1 << 20;

    @Param({"8", "64", "4096"})
    private int bytes;

    private ServerProcess server;
    private RemoteMemory memory;
    private RemoteRegion region;
    private RegisteredBuffer buffer;
    private RemoteQueue queue;
    private int ended;

    private final CompletionHandler handler = (tag, outcome) -> {
        if (outcome != Outcome.DONE) {
            throw new IllegalStateException(Outcome.describe(outcome));
        }
        ended++;
    };

    @Setup
    public void open() {
        VerbsLibrary.choose(VerbsLibrary.AUTO);
        server = ServerProcess.start(Devices.library(), BYTES, BYTES);
        memory = RemoteMemory.open("", "jmh");
        RemoteServer attached = memory.attach(server.address());
        region = memory.allocate(attached, 1).getFirst();
        buffer = memory.register(BYTES);
        queue = memory.openQueue(QueueOptions.DEFAULT);
    }

    @TearDown
    public void close() {
        memory.close();
        server.close();
    }

    @Benchmark
    public void readOne() {
        posted(queue.read(region, 0, buffer, 0, bytes, 0));
        await(1);
    }

    @Benchmark
    public void executeRead() {
        if (queue.execute(false, region, 0, buffer, 0, bytes, 0) == PostResult.OK) {
            await(1);
        }
    }

    @Benchmark
    @OperationsPerInvocation(DEPTH)
    public void sixteenReads() {
        sixteen(false);
        await(DEPTH);
    }

    @Benchmark
    @OperationsPerInvocation(DEPTH)
    public void sixteenWrites() {
        sixteen(true);
        await(DEPTH);
    }

    @Benchmark
    @OperationsPerInvocation(DEPTH)
    public void listOfReads() {
        queue.beginList();
        sixteen(false);
        queue.postList();
        await(DEPTH);
    }

    private void sixteen(boolean write) {
        int stride = Math.max(bytes, 64);
        for (int i = 0; i < DEPTH; i++) {
            posted(
                    write
                            ? queue.write(region, (long) i * stride, buffer, (long) i * stride, bytes, i)
                            : queue.read(region, (long) i * stride, buffer, (long) i * stride, bytes, i));
        }
    }

    private static void posted(int posting) {
        if (posting != PostResult.OK) {
            throw new IllegalStateException(PostResult.describe(posting));
        }
    }

    private void await(int count) {
        while (ended < count) {
            queue.poll(handler);
        }
        ended = 0;
    }
}
