package io.farheap.bench.against;

/** Three runs in succession: of one build, of the other, and of the first again. */
record RunTriple(BenchRun first, BenchRun middle, BenchRun last) {

    /**
     * This build's over the other's. Of two runs of one build the geometric mean is taken: it stands where the run
     * between them does, so that a machine that becomes slower at one rate changes nothing.
     *
     * @return NaN where one of the three has no such figure
     */
    double ratio(String row, Figure figure) {
        double twice = Math.sqrt(first.comparable(row, figure) * last.comparable(row, figure));
        double once = middle.comparable(row, figure);
        return first.ours() ? twice / once : once / twice;
    }

    /** The factor, from 1, between the two runs of one build; NaN where one has no such figure. */
    double same(String row, Figure figure) {
        double factor = last.comparable(row, figure) / first.comparable(row, figure);
        return Math.max(factor, 1 / factor);
    }
}
