package io.farheap.bench.against;

import com.google.gson.JsonArray;
import io.farheap.bench.child.BenchJvm;
import io.farheap.bench.child.FarheapBuild;
import io.farheap.time.TimeLimit;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs of two builds in rounds of three: A B A, then B A B, then A B A. So neither build is always first, after each
 * two rounds both have run equally often, and they alternate from the first run to the last: any three runs in
 * succession, also across two rounds, are two of one build around one of the other.
 */
final class AlternatingRuns {

    static final int RUNS_OF_A_ROUND = 3;

    /** A run may take this many times the longest run so far, plus the time below. */
    private static final int PATIENCE = 10;

    private static final Duration LEAST_LIMIT = TimeLimit.of(Duration.ofMinutes(1));

    private final RowShape shape;
    private final List<String> arguments;
    private final PrintWriter progress;
    private Duration longest = Duration.ZERO;

    /**
     * @param arguments of the command line, for each run
     * @param progress receives a line before each run
     */
    AlternatingRuns(RowShape shape, List<String> arguments, PrintWriter progress) {
        this.shape = shape;
        this.arguments = arguments;
        this.progress = progress;
    }

    List<BenchRun> run(FarheapBuild ours, FarheapBuild other, int rounds) throws IOException, InterruptedException {
        List<BenchRun> runs = new ArrayList<>();
        for (int number = 0; number < rounds * RUNS_OF_A_ROUND; number++) {
            boolean turn = number % 2 == 0;
            FarheapBuild build = turn ? ours : other;
            progress.printf("round %d of %d: %s%n", number / RUNS_OF_A_ROUND + 1, rounds, build.title());
            progress.flush();
            runs.add(new BenchRun(turn, shape.byName(run(build))));
        }
        return runs;
    }

    private JsonArray run(FarheapBuild build) throws IOException, InterruptedException {
        long start = System.nanoTime();
        JsonArray rows = BenchJvm.run(build, arguments, limit());
        Duration taken = Duration.ofNanos(System.nanoTime() - start);
        longest = taken.compareTo(longest) > 0 ? taken : longest;
        return rows;
    }

    /** The first run may take as long as any benchmark does; the later ones do the same work as it did. */
    private Duration limit() {
        return longest.isZero()
                ? BenchJvm.LIMIT
                : longest.multipliedBy(PATIENCE).plus(LEAST_LIMIT);
    }
}
