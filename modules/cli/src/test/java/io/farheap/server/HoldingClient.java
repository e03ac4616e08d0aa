package io.farheap.server;

import io.farheap.control.RegionGrant;
import io.farheap.control.grpc.ControlClient;
import io.farheap.control.lease.LeaseKeeper;
import java.util.List;

/**
 * A client process that holds all the regions of a server and writes to them until it is killed. Arguments: HOST:PORT,
 * regions.
 */
final class HoldingClient {

    private HoldingClient() {}

    public static void main(String[] arguments) {
        ControlClient plane = ControlClient.connect(arguments[0]);
        TestClient client = new TestClient(plane);
        new LeaseKeeper(plane, client.lease, (lease, cause) -> System.exit(3));
        List<RegionGrant> regions = plane.allocate(client.lease.id(), Integer.parseInt(arguments[1]));
        regions.forEach(region -> client.fill(region, 1));
        System.out.println("holding");
        for (long seed = 2; ; seed++) {
            long pattern = seed;
            regions.forEach(region -> client.fill(region, pattern));
        }
    }
}
