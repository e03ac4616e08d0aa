package io.farheap.bench.kv;

/** YCSB's workloads A to D, as the parts of their requests; the others are gets. */
enum KvWorkload {
    A(0.5, 0, 10.5),
    B(0.05, 0, 13.1),
    C(0, 0, 13.2),
    D(0, 0.05, 13.0);

    final double updates;
    final double inserts;
    /** The paper's rate: requests a second, with Zipfian keys, one server. */
    final double paperRate;

    KvWorkload(double updates, double inserts, double paperMillions) {
        this.updates = updates;
        this.inserts = inserts;
        this.paperRate = paperMillions * 1e6;
    }
}
