package io.farheap.manager.simulator;

import java.util.Arrays;
import java.util.Map;
import java.util.function.BinaryOperator;

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
        return paper(servers, failed, r, choose(groupSize, r + 1) * groups);
    }

    /**
     * Returns the same for groups of several sizes.
     *
     * @param losing sets of r + 1 servers that are in one group, of all groups: C(servers, r + 1) P G
     */
    static double paper(int servers, int failed, int r, double losing) {
        double part = losing / choose(servers, r + 1);
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
     * of at most r of C(size, i) x^i) over all groups, and of (1 + x) over all other servers. The sets that lose
     * something are summed by themselves, as a difference from all sets would not show a small probability. Here
     * servers fail by chance, as often on average, which weighs all sets of {@code failed} servers equally and keeps
     * the numbers small.
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
        LossOutcomes outcomes = LossOutcomes.NONE;
        for (Map.Entry<Integer, Integer> size : sizes.entrySet()) {
            DegreeWindow group = DegreeWindow.binomial(size.getKey(), chance, failed);
            LossOutcomes one = new LossOutcomes(group.upTo(r), group.above(r));
            outcomes = outcomes.times(one.power(size.getValue(), failed), failed);
            rest -= size.getKey() * size.getValue();
        }
        DegreeWindow others = DegreeWindow.binomial(rest, chance, failed);
        double lossy = outcomes.lossy().times(others, failed).at(failed);
        double harmless = outcomes.harmless().times(others, failed).at(failed);
        return lossy / (lossy + harmless);
    }

    /**
     * By the number of dead servers of some groups: the probability that no group loses data, and that one does.
     * Immutable.
     */
    private record LossOutcomes(DegreeWindow harmless, DegreeWindow lossy) {

        /** Of no group. */
        static final LossOutcomes NONE = new LossOutcomes(DegreeWindow.ONE, new DegreeWindow(0, new double[0]));

        LossOutcomes power(int exponent, int most) {
            return DataLossFormula.power(NONE, this, exponent, (a, b) -> a.times(b, most));
        }

        LossOutcomes times(LossOutcomes other, int most) {
            return new LossOutcomes(
                    harmless.times(other.harmless, most),
                    lossy.times(other.harmless.plus(other.lossy), most).plus(harmless.times(other.lossy, most)));
        }
    }

    /** Returns a power of a base, by as many multiplications as the exponent has binary digits, or twice as many. */
    private static <T> T power(T one, T base, int exponent, BinaryOperator<T> times) {
        T result = one;
        T square = base;
        for (int rest = exponent; rest > 0; rest >>= 1) {
            if ((rest & 1) == 1) {
                result = times.apply(result, square);
            }
            if (rest > 1) {
                square = times.apply(square, square);
            }
        }
        return result;
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

        /** Drops the degrees that {@link #upTo} keeps. */
        DegreeWindow above(int most) {
            int from = Math.clamp(most + 1L - low, 0, coefficients.length);
            return new DegreeWindow(low + from, Arrays.copyOfRange(coefficients, from, coefficients.length));
        }

        DegreeWindow plus(DegreeWindow other) {
            if (coefficients.length == 0 || other.coefficients.length == 0) {
                return coefficients.length == 0 ? other : this;
            }
            int first = Math.min(low, other.low);
            int end = Math.max(low + coefficients.length, other.low + other.coefficients.length);
            double[] sum = new double[end - first];
            System.arraycopy(coefficients, 0, sum, low - first, coefficients.length);
            for (int i = 0; i < other.coefficients.length; i++) {
                sum[other.low - first + i] += other.coefficients[i];
            }
            return new DegreeWindow(first, sum);
        }

        DegreeWindow power(int exponent, int most) {
            return DataLossFormula.power(ONE, this, exponent, (a, b) -> a.times(b, most));
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
