/**
 * Memory on other machines for JVM services. What is exported here is the library's API; everything else may change
 * with each release. On the class path, where Farheap's own tests and commands are, exports do not bind.
 */
module io.farheap {
    requires transitive HdrHistogram;
    requires com.google.common;
    // Guava is no module, and so cannot require it itself.
    requires com.google.common.util.concurrent.internal;
    requires com.google.protobuf;
    requires io.grpc;
    requires io.grpc.netty.shaded;
    requires io.grpc.protobuf;
    requires io.grpc.stub;
    requires java.management;
    requires jdk.jfr;
    requires transitive org.agrona;
    requires org.bytedeco.javacpp;
    // If the JVM is started with --add-modules for it.
    requires static jdk.incubator.vector;
    requires static transitive micrometer.core;
    requires static transitive org.jspecify;

    exports io.farheap.cache;
    exports io.farheap.cache.contract;
    exports io.farheap.control;
    exports io.farheap.kv;
    exports io.farheap.kv.contract;
    exports io.farheap.kv.policy;
    exports io.farheap.latency;
    exports io.farheap.manager;
    exports io.farheap.manager.client;
    exports io.farheap.metrics;
    exports io.farheap.migration;
    exports io.farheap.procedure;
    exports io.farheap.procedure.builtin;
    exports io.farheap.remote;
    exports io.farheap.remote.contract;
    exports io.farheap.resilience;
    exports io.farheap.resilience.contract;
    exports io.farheap.rpc;
    exports io.farheap.server;
    exports io.farheap.server.contract;
    exports io.farheap.slo;
    exports io.farheap.store;
    exports io.farheap.store.contract;
    exports io.farheap.thread.idle;
    exports io.farheap.tier;
    exports io.farheap.tier.device;
    exports io.farheap.verbs;

    // protobuf's own reflection, which text forms of messages use.
    opens io.farheap.control.wire to
            com.google.protobuf;
    opens io.farheap.manager.wire to
            com.google.protobuf;

    uses io.farheap.server.service.ServerService;

    provides io.farheap.server.service.ServerService with
            io.farheap.kv.leased.server.LeasedServices,
            io.farheap.kv.service.MapServices,
            io.farheap.procedure.service.ProcedureServices;
}
