package io.farheap.bench.against;

/** Three runs in succession: of one build, of the other, and of the first again. */
record RunTriple(BenchRun first, BenchRun middle, BenchRun last) {

    /**
     * Returns this build's value over the other's. For the build with two runs it takes the geometric mean of both:
     * that is the value at the time of the run between them, if the machine becomes slower at a constant rate.
     *
     * @return NaN if one of the three runs has no such figure
     */
    double ratio(String row, Figure figure) {
        double twice = Math.sqrt(first.comparable(row, figure) * last.comparable(row, figure));
        double once = middle.comparable(row, figure);
        return first.ours() ? twice / once : once / twice;
    }

    /** Returns the factor, at least 1, between the two runs of one build; NaN if one has no such figure. */
    double same(String row, Figure figure) {
        double factor = last.comparable(row, figure) / first.comparable(row, figure);
        return Math.max(factor, 1 / factor);
    }
}
