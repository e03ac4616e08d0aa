package io.farheap.resilience.keeper;

import io.farheap.resilience.contract.Health;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;

/** The fields that events of a space's health have in common. */
@Enabled
public abstract class HealthEvent extends Event {

    @Label("Client")
    String client = "";

    @Label("Good Slabs")
    int good;

    @Label("Slabs Being Regenerated")
    int rebuilding;

    @Label("Void Slabs")
    int voids;

    @Label("May Lose")
    @Description("How many more servers may be lost; negative if content is lost")
    int mayLose;

    @Label("Suspect Servers")
    @Description("HOST:PORT of servers above the errorCorrectionLimit")
    String suspects = "";

    @Label("Reads")
    long reads;

    @Label("Writes")
    long writes;

    @Label("Decoded")
    @Description("Reads and writes that had to decode a split from the others")
    long decoded;

    @Label("Hedged")
    long hedged;

    @Label("Degraded")
    @Description("Writes that completed with a void slab among theirs")
    long degraded;

    @Label("Disagreed")
    long disagreed;

    @Label("Late Splits")
    long late;

    @Label("Slabs Regenerated")
    long regenerated;

    @Label("Regeneration Bytes Read")
    long bytesRead;

    @Label("Regeneration Bytes Rebuilt")
    long bytesRebuilt;

    @Label("Regeneration Bytes Rebuilt by Servers")
    long bytesByServers;

    /** @param name of the client */
    public final void emit(String name, Health health) {
        client = name;
        good = health.goodSlabs();
        rebuilding = health.rebuildingSlabs();
        voids = health.voidSlabs();
        mayLose = health.mayLose();
        suspects = String.join(
                " ",
                health.servers().stream()
                        .filter(Health.Server::suspect)
                        .map(Health.Server::address)
                        .toList());
        reads = health.counts().reads();
        writes = health.counts().writes();
        decoded = health.counts().decoded();
        hedged = health.counts().hedged();
        degraded = health.counts().degraded();
        disagreed = health.counts().disagreed();
        late = health.counts().late();
        regenerated = health.regenerated();
        bytesRead = health.regenerationBytesRead();
        bytesRebuilt = health.regenerationBytesRebuilt();
        bytesByServers = health.regenerationBytesByServers();
        commit();
    }
}
