package io.farheap.slo;

/**
 * The measured numbers of threads from which a configuration's figures are interpolated, and their weights. Without
 * server threads the interpolation is linear between two numbers of client threads. With server threads it is bilinear
 * between two numbers of each. If both lie between the same two numbers n and m, the corner of n client and m server
 * threads does not exist, as there are never more server than client threads, and the figures are linear on the
 * triangle of the other three corners. One-sided and batched operations are different mechanisms, so nothing is
 * interpolated between no server thread and one.
 */
final class ThreadWeights {

    private final int[] servers = new int[4];
    private final int[] clients = new int[4];
    private final double[] weights = new double[4];
    private int count;

    ThreadWeights(GridLevels threads, int server, int client) {
        int low = threads.below(client);
        double x = threads.fraction(client, low);
        if (server == 0) {
            add(0, low, 1 - x);
            add(0, low + 1, x);
            return;
        }
        int lowServer = threads.below(server);
        double y = threads.fraction(server, lowServer);
        int first = lowServer + 1;
        if (low == lowServer) {
            add(first, low, 1 - x);
            add(first, low + 1, x - y);
            add(first + 1, low + 1, y);
        } else {
            add(first, low, (1 - x) * (1 - y));
            add(first, low + 1, x * (1 - y));
            add(first + 1, low, (1 - x) * y);
            add(first + 1, low + 1, x * y);
        }
    }

    /** A point without weight is skipped, since it may have no figures, or not exist. */
    private void add(int server, int client, double weight) {
        if (weight > 0) {
            servers[count] = server;
            clients[count] = client;
            weights[count++] = weight;
        }
    }

    int count() {
        return count;
    }

    /** The server index, as {@link MeasuredGrid#index} takes it. */
    int server(int i) {
        return servers[i];
    }

    int client(int i) {
        return clients[i];
    }

    double weight(int i) {
        return weights[i];
    }
}
