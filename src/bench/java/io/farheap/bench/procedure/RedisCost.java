package io.farheap.bench.procedure;

import io.farheap.bench.machine.ScratchDirectory;
import io.farheap.bench.peers.PeerAbsentException;
import io.farheap.bench.peers.RedisChase;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.Samples;
import io.farheap.bench.report.Turns;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;

/**
 * Follows a chain by Redis's FCALL, and by as many GETs, in turns whose order rotates. It is measured for comparison
 * only, and counts for no target.
 */
final class RedisCost {

    private static final String SYSTEM = "redis";

    private RedisCost() {}

    /** Adds a row for each depth, or one that says why there is none. */
    static void run(BenchReport report, PrintStream out, List<Integer> depths, int turns, long turnNanos)
            throws IOException {
        try (ScratchDirectory directory = new ScratchDirectory("farheap-redis");
                RedisChase redis = RedisChase.open(directory.path())) {
            out.printf(
                    "%nRedis, a Unix socket, 1,024 nodes%n%6s%14s%14s%12s%n",
                    "depth", "FCALL p50 ns", "GETs p50 ns", "GETs/FCALL");
            for (int depth : depths) {
                List<Turns.Side<RuntimeException>> sides = List.of(
                        turn -> ChaseCost.p50(turnNanos, null, false, () -> redis.call(depth)),
                        turn -> ChaseCost.p50(turnNanos, null, false, () -> redis.gets(depth)));
                Turns taken = Turns.take(sides, ChaseCost.warmUp(turnNanos), turns, () -> {});
                Samples calls = taken.of(0);
                Samples gets = taken.of(1);
                double ratio = gets.median() / calls.median();
                out.printf("%6d%,14.0f%,14.0f%12.2f%n", depth, calls.median(), gets.median(), ratio);
                report.row()
                        .put("op", "chase")
                        .put("system", SYSTEM)
                        .put("depth", (long) depth)
                        .put("call_p50_ns", calls.median())
                        .put("read_p50_ns", gets.median())
                        .put("ratio_p50", ratio)
                        .put("settled", taken.settled())
                        .put("computed", false);
            }
        } catch (PeerAbsentException e) {
            out.printf("%nabsent: Redis: %s%n", e.getMessage());
            report.row().put("op", "chase").put("system", SYSTEM).put("absent", e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while Redis started", e);
        }
    }
}
