package io.farheap.slo;

import io.farheap.measure.Measurement;
import java.util.SplittableRandom;

/**
 * An invented RDMA system in closed form, to try plans and searches at sizes for which no machine is at hand. Its
 * constants are of the magnitude of Redy's testbed (sections 4.3 and 7.2: 3-4 us one-sided, some 200 million small
 * operations per second, a useful depth of 4); its figures are not the performance of any real system. Clients keep
 * their queues full; latency follows from the operations in flight (Little's law). Immutable.
 */
public final class SimulatedSystem implements Measurement {

    private static final double NETWORK_NANOS = 3_000;
    private static final double SERVER_HOP_NANOS = 1_200;
    private static final double CLIENT_MESSAGE_NANOS = 150;
    private static final double CLIENT_REQUEST_NANOS = 40;
    private static final double SERVER_MESSAGE_NANOS = 120;
    private static final double SERVER_REQUEST_NANOS = 12;
    private static final double MESSAGES_PER_NANO = 0.035;
    private static final double BYTES_PER_NANO = 12.5;
    private static final int HEADER_BYTES = 16;
    private static final int MESSAGE_OVERHEAD_BYTES = 60;
    /**
     * Requests, in batches, that the application of a client thread keeps issued: if the queue is shorter, they wait.
     */
    private static final int OFFERED_BATCHES = 4;
    /** Queue entries that the network card holds itself; if more are in use, each costs an access to memory. */
    private static final int CARD_ENTRIES = 256;

    private static final double KNEE = 4;
    private static final int INLINE_BYTES = 172;
    private static final double INLINE_GAIN = 0.8;

    private final ModelSubject subject;
    private final long seed;
    private final double noise;

    /**
     * @param noise the greatest deviation from the closed form, as a share: 0.05 for up to 5% more or less
     * @param seed of the noise; a configuration's figures are the same each time
     */
    public SimulatedSystem(ModelSubject subject, double noise, long seed) {
        this.subject = subject;
        this.noise = noise;
        this.seed = seed;
    }

    @Override
    public Performance measure(Configuration configuration) {
        int c = configuration.clientThreads();
        int s = configuration.serverThreads();
        int b = configuration.batchSize();
        int q = configuration.queueDepth();
        double recordBytes = subject.recordBytes() + HEADER_BYTES;
        double clientNanos = CLIENT_MESSAGE_NANOS + CLIENT_REQUEST_NANOS * b;
        double wireNanos = (MESSAGE_OVERHEAD_BYTES + recordBytes * b) / BYTES_PER_NANO;
        double pathNanos = NETWORK_NANOS + clientNanos + wireNanos;
        double capacity = Math.min(c * b / clientNanos, Math.min(b / wireNanos, b * MESSAGES_PER_NANO));
        if (s > 0) {
            double serverNanos = SERVER_MESSAGE_NANOS + SERVER_REQUEST_NANOS * b;
            pathNanos += SERVER_HOP_NANOS + serverNanos;
            capacity = Math.min(capacity, s * b / serverNanos);
        }
        capacity /= Math.max(1, Math.pow((double) c * q / CARD_ENTRIES, 0.2));
        double inFlight = (double) c * q * b / pathNanos;
        double perNano = Math.pow(Math.pow(capacity, -KNEE) + Math.pow(inFlight, -KNEE), -1 / KNEE);
        double nanos = (double) c * b * Math.max(q, OFFERED_BATCHES) / perNano;
        SplittableRandom random = new SplittableRandom(seed ^ configuration.hashCode() * 0x9E3779B97F4A7C15L);
        return mix(nanos, perNano * 1e9, random);
    }

    private Performance mix(double nanos, double perSecond, SplittableRandom random) {
        double reads = subject.readPercent() / 100.0;
        double writeNanos = nanos * (subject.recordBytes() <= INLINE_BYTES ? INLINE_GAIN : 1);
        return new Performance(
                reads > 0 ? noisy(nanos, random) : 0,
                noisy(perSecond * reads, random),
                reads < 1 ? noisy(writeNanos, random) : 0,
                noisy(perSecond * (1 - reads), random));
    }

    private double noisy(double value, SplittableRandom random) {
        return value * (1 + noise * (2 * random.nextDouble() - 1));
    }
}
