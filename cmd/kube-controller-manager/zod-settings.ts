import * as z from 'zod';

// zod would compile a function for each schema. That pays off after thousands of values; here each schema reads one.
z.config({ jitless: true });
