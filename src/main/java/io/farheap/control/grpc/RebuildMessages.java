package io.farheap.control.grpc;

import com.google.protobuf.ByteString;
import io.farheap.control.plane.PullPace;
import io.farheap.control.plane.RebuildPlan;
import io.farheap.control.wire.PrepareRebuildRequest;
import io.farheap.control.wire.SplitSource;

/** Converts rebuild plans to messages and back. */
final class RebuildMessages {

    private RebuildMessages() {}

    static PrepareRebuildRequest request(long leaseId, int regionId, RebuildPlan plan, PullPace pace) {
        PrepareRebuildRequest.Builder request = PrepareRebuildRequest.newBuilder()
                .setLeaseId(leaseId)
                .setRegionId(regionId)
                .setDataSplits(plan.dataSplits())
                .setParitySplits(plan.paritySplits())
                .setSplit(plan.split())
                .setPace(ControlMessages.message(pace));
        for (RebuildPlan.Source source : plan.sources()) {
            request.addSources(SplitSource.newBuilder()
                    .setSplit(source.split())
                    .setAddress(source.address())
                    .setToken(ByteString.copyFrom(source.token())));
        }
        return request.build();
    }

    static RebuildPlan plan(PrepareRebuildRequest request) {
        return new RebuildPlan(
                request.getDataSplits(),
                request.getParitySplits(),
                request.getSplit(),
                request.getSourcesList().stream()
                        .map(source -> new RebuildPlan.Source(
                                source.getSplit(),
                                source.getAddress(),
                                source.getToken().toByteArray()))
                        .toList());
    }
}
