package io.farheap.manager.simulator;

import java.util.Locale;
import java.util.random.RandomGenerator;

/** How long the spot machines of a simulated market really live. */
enum SpotLifeForm {

    /** A machine that has lived long is as likely to end as a new one. */
    EXPONENTIAL,
    /** A machine that has lived long is likelier to end: a Weibull distribution of shape 3. */
    WEIBULL,
    /** Machines of a rack end together: the market takes a rack after an exponential time. */
    RACK,
    /** The market takes each machine at the same age. */
    FIXED;

    private static final double SHAPE = 3;
    /** The gamma function at 1 + 1/3: the mean of the Weibull distribution of shape 3 and scale 1. */
    private static final double UNIT_MEAN = 0.8929795115692493;

    /** @throws IllegalArgumentException if there is no such form */
    static SpotLifeForm parse(String text) {
        for (SpotLifeForm form : values()) {
            if (form.text().equals(text)) {
                return form;
            }
        }
        throw new IllegalArgumentException(
                "lives of the form '" + text + "'; the forms are exponential, weibull, rack and fixed");
    }

    /** Draws the time from a machine's start, or from a rack's, to its notice, in the unit of the mean. */
    double draw(RandomGenerator random, double mean) {
        double unit = -Math.log(1 - random.nextDouble());
        return switch (this) {
            case EXPONENTIAL, RACK -> mean * unit;
            case WEIBULL -> mean / UNIT_MEAN * Math.pow(unit, 1 / SHAPE);
            case FIXED -> mean;
        };
    }

    /** Returns its name as an option and in figures. */
    String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
