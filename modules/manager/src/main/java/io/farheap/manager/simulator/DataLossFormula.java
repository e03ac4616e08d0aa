package io.farheap.manager.simulator;

import java.util.Arrays;
import java.util.Map;

/**
 * The probability that data is lost if a number of random servers fail at once: Hydra's formula (section 5), which
 * takes the sets of r + 1 dead servers for independent, and exact counts. Of a range, or of a group, more than r
 * servers must be dead. Stateless.
 */
final class DataLossFormula {

    private DataLossFormula() {}

    /**
     * Returns 1 - (1 - P G)^C(failed, r + 1), in which P = C(g, r + 1) / C(servers, r + 1) is the part of all sets of r
     * + 1 servers that one group has.
     *
     * @param groupSize g
     * @param groups G, as in the paper: servers / g for disjoint groups, ranges for random ones
     */
    static double paper(int servers, int failed, int r, int groupSize, double groups) {
        double part = choose(groupSize, r + 1) / choose(servers, r + 1) * groups;
        double sets = choose(failed, r + 1);
        return sets == 0 ? 0 : part >= 1 ? 1 : -Math.expm1(sets * Math.log1p(-part));
    }

    /** Returns the exact probability for ranges that are each on k + r random servers, independently. */
    static double random(int servers, int failed, int k, int r, long ranges) {
        double lost = hypergeometricTail(servers, failed, k + r, r);
        return lost >= 1 ? 1 : -Math.expm1(ranges * Math.log1p(-lost));
    }

    /**
     * Returns the exact probability for disjoint groups of which each set of r + 1 servers has a range in common. The
     * number of sets of dead servers that lose nothing is the coefficient of x^failed in the product of (the sum over i
     * of at most r of C(size, i) x^i) over all groups, and of (1 + x) over all other servers. Here servers fail by
     * chance, as often on average, which weighs all sets of {@code failed} servers equally and keeps the numbers small.
     *
     * @param sizes how many groups there are of each size
     * @param servers of all groups, and those that have no slabs
     */
    static double groups(Map<Integer, Integer> sizes, int servers, int failed, int r) {
        if (failed <= r) {
            return 0;
        }
        if (failed == servers) {
            return sizes.keySet().stream().anyMatch(size -> size > r) ? 1 : 0;
        }
        double chance = (double) failed / servers;
        int rest = servers;
        DegreeWindow harmless = DegreeWindow.ONE;
        for (Map.Entry<Integer, Integer> size : sizes.entrySet()) {
            DegreeWindow one =
                    DegreeWindow.binomial(size.getKey(), chance, failed).upTo(r);
            harmless = harmless.times(one.power(size.getValue(), failed), failed);
            rest -= size.getKey() * size.getValue();
        }
        harmless = harmless.times(DegreeWindow.binomial(rest, chance, failed), failed);
        double all = DegreeWindow.binomial(servers, chance, failed).at(failed);
        return Math.clamp(1 - harmless.at(failed) / all, 0.0, 1.0);
    }

    /** Returns the probability that a random set of {@code drawn} servers has more than r of the dead ones. */
    private static double hypergeometricTail(int servers, int failed, int drawn, int r) {
        double tail = 0;
        for (int dead = r + 1; dead <= Math.min(drawn, failed); dead++) {
            double chance = choose(drawn, dead);
            for (int i = 0; i < drawn; i++) {
                int left = i < dead ? failed - i : servers - failed - (i - dead);
                chance *= Math.max(0, left) / (double) (servers - i);
            }
            tail += chance;
        }
        return tail;
    }

    /** Returns the number of subsets of a size; as a double, as it may be large. */
    static double choose(int of, int size) {
        double sets = 1;
        for (int i = 0; i < size; i++) {
            sets *= (double) (of - i) / (i + 1);
        }
        return Math.max(0, sets);
    }

    /**
     * The coefficients of a polynomial that are not negligible, which are those of neighbouring degrees. All are at
     * least 0. Immutable.
     *
     * @param low degree of the first coefficient
     */
    private record DegreeWindow(int low, double[] coefficients) {

        static final DegreeWindow ONE = new DegreeWindow(0, new double[] {1});
        /** Far below what a double can add to the coefficients that count, also after all multiplications. */
        private static final double NEGLIGIBLE = 1e-40;

        /** Returns (1 - chance + chance x)^count. */
        static DegreeWindow binomial(int count, double chance, int most) {
            return new DegreeWindow(0, new double[] {1 - chance, chance}).power(count, most);
        }

        /** Returns the coefficient of a degree. */
        double at(int degree) {
            int i = degree - low;
            return i < 0 || i >= coefficients.length ? 0 : coefficients[i];
        }

        DegreeWindow upTo(int most) {
            return trimmed(low, coefficients, most);
        }

        DegreeWindow power(int exponent, int most) {
            DegreeWindow result = ONE;
            DegreeWindow square = this;
            for (int rest = exponent; rest > 0; rest >>= 1) {
                if ((rest & 1) == 1) {
                    result = result.times(square, most);
                }
                if (rest > 1) {
                    square = square.times(square, most);
                }
            }
            return result;
        }

        DegreeWindow times(DegreeWindow other, int most) {
            double[] a = coefficients;
            double[] b = other.coefficients;
            double[] product = new double[Math.max(0, a.length + b.length - 1)];
            for (int i = 0; i < a.length; i++) {
                for (int j = 0; j < b.length; j++) {
                    product[i + j] += a[i] * b[j];
                }
            }
            return trimmed(low + other.low, product, most);
        }

        /** Drops degrees above a bound, and negligible coefficients at both ends. */
        private static DegreeWindow trimmed(int low, double[] coefficients, int most) {
            int from = 0;
            int to = Math.min(coefficients.length, Math.max(0, most - low + 1));
            while (from < to && coefficients[from] < NEGLIGIBLE) {
                from++;
            }
            while (to > from && coefficients[to - 1] < NEGLIGIBLE) {
                to--;
            }
            return new DegreeWindow(low + from, Arrays.copyOfRange(coefficients, from, to));
        }
    }
}
