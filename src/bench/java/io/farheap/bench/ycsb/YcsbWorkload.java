package io.farheap.bench.ycsb;

/**
 * YCSB's core workloads, as the parts of their operations. E is missing: it scans in key order, which a hash index does
 * not have.
 */
enum YcsbWorkload {
    A(0.5, 0, 0),
    B(0.05, 0, 0),
    C(0, 0, 0),
    D(0, 0.05, 0),
    F(0, 0, 0.5);

    final double updates;
    final double inserts;
    final double modifications;

    YcsbWorkload(double updates, double inserts, double modifications) {
        this.updates = updates;
        this.inserts = inserts;
        this.modifications = modifications;
    }

    boolean readsOnly() {
        return updates + inserts + modifications == 0;
    }
}
